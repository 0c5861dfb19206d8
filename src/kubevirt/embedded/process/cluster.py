"""All parts of an embedded home, started in order and stopped in the reverse one.

Everybody asks the API server over HTTPS on the loopback address, under a name of their own, as they would in a
cluster. What does not need one another starts side by side.
"""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import kubevirt
from kubevirt.apiserver.auth.audit_log import AuditLogSettings
from kubevirt.apiserver.collector.collector import CollectorSettings
from kubevirt.apiserver.http.kubelets import KubeletSettings
from kubevirt.apiserver.plugins.service_addresses import ServiceAddressSettings
from kubevirt.apiserver.server import ServerSettings, serving
from kubevirt.base.clock import Clock
from kubevirt.base.files import Root
from kubevirt.base.tasks import background
from kubevirt.embedded.home import Home, Process, boot_id
from kubevirt.embedded.process import identities, kubeconfig
from kubevirt.embedded.process.identities import Identities
from kubevirt.embedded.process.progress import Listener, step
from kubevirt.embedded.process.settings import LOOPBACK, Settings


class Cluster:
    """One that runs."""

    async def stop_pods(self, limit_s: float) -> None:
        """All of them, each within its own grace period, none for longer than the limit."""


@asynccontextmanager
async def running(
    home: Home, settings: Settings, listener: Listener, clock: Clock
) -> AsyncIterator[Cluster]:
    async with AsyncExitStack() as stack:
        with step(listener, "certificates"):
            root = stack.enter_context(Root.open(home.pki))
            nodes = dict.fromkeys(settings.nodes, (LOOPBACK,))
            known = Identities(home.pki, root, settings.services, clock, nodes=nodes)
            with Root.open(home.path) as folder:
                own = kubeconfig.content(settings.url, known.authority, *known.administrator)
                folder.write("kubeconfig", kubeconfig.text(own))
            await stack.enter_async_context(background(known.run()))
        with step(listener, "API server") as current:
            server = await stack.enter_async_context(
                serving(_server(home, settings, known), clock=clock)
            )
            current.detail = server.url
        # From here on there are things that outlive us.
        home.enter(_entry(settings, clock))
        yield Cluster()


def _server(home: Home, settings: Settings, known: Identities) -> ServerSettings:
    return ServerSettings(
        data=home.store,
        host=LOOPBACK,
        port=settings.port,
        certificate=known.serving,
        access=known.access,
        front_proxy=known.proxy,
        services=ServiceAddressSettings(cidr=settings.services),
        kubelets=KubeletSettings(
            authority=known.authority, client=known.files(identities.KUBELET_CLIENT)
        ),
        audit=AuditLogSettings(path=home.audit_log),
        collector=CollectorSettings(root_ca=known.authority.decode()),
    )


def _entry(settings: Settings, clock: Clock) -> Process:
    return Process(
        pid=os.getpid(),
        boot_id=boot_id(),
        url=settings.url,
        port=settings.port,
        nodes=settings.nodes,
        version=kubevirt.__version__,
        started=clock.now().isoformat(timespec="seconds"),
    )
