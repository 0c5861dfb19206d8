"""All parts of an embedded home, started in order and stopped in the reverse one.

Everybody asks the API server over HTTPS on the loopback address, under a name of their own, as they would in a
cluster. What does not need one another starts side by side.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import kubevirt
from kubevirt.apiserver.auth.audit_log import AuditLogSettings
from kubevirt.apiserver.collector.collector import CollectorSettings
from kubevirt.apiserver.http.kubelets import KubeletSettings
from kubevirt.apiserver.plugins.service_addresses import ServiceAddressSettings
from kubevirt.apiserver.server import ServerSettings, serving
from kubevirt.base.boot import boot_id
from kubevirt.base.clock import Clock
from kubevirt.base.files import Root
from kubevirt.base.log import Logs
from kubevirt.base.tasks import background
from kubevirt.embedded.controllers.controlling import controlling
from kubevirt.embedded.controllers.endpoints.controller import following
from kubevirt.embedded.home import Home, Process
from kubevirt.embedded.network.networks import Networks, opened
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.node.node import Node
from kubevirt.embedded.process import former_nodes, kubeconfig, nodes
from kubevirt.embedded.process.identities import (
    CONTROLLERS,
    INSTALLER,
    KUBELET_CLIENT,
    NETWORK,
    NODE_CONTROLLER,
    SCHEDULER,
    STORAGE,
    Identities,
    of_node,
)
from kubevirt.embedded.process.nodes import Shared
from kubevirt.embedded.process.progress import Listener, step
from kubevirt.embedded.process.settings import LOOPBACK, Settings
from kubevirt.embedded.process.settings import network as settings_of_network
from kubevirt.embedded.programs.place import Place
from kubevirt.embedded.programs.start import Start
from kubevirt.embedded.runtime.images.settings import ImageSettings
from kubevirt.embedded.runtime.images.store import ImageStore
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.scheduler.scheduler import scheduling
from kubevirt.embedded.storage.controller import StorageController
from kubevirt.kube.client import Client

if TYPE_CHECKING:
    from kubevirt.embedded.programs.programs import Programs


class Cluster:
    """One that runs."""

    def __init__(
        self, networks: Networks, nodes: Sequence[Node], programs: "Programs | None"
    ) -> None:
        self._networks = networks
        self._nodes = nodes
        self._programs = programs

    async def stop(self, limit_s: float, hurry: asyncio.Event) -> None:
        """Pods, each within its own grace period, none for longer than the limit, nor after `hurry`; then
        their network.
        """
        if self._programs:
            await self._programs.stand_still()
        async with background(self._hurried(hurry)):
            await self._stop_pods(limit_s)
        if self._programs:
            await self._programs.leave_nodes()
        await self._networks.tear_down_all()

    async def _hurried(self, hurry: asyncio.Event) -> None:
        await hurry.wait()
        await self._stop_pods(0.0)

    async def _stop_pods(self, limit_s: float) -> None:
        async with asyncio.TaskGroup() as tasks:
            for node in self._nodes:
                tasks.create_task(node.stop_all(limit_s))


@asynccontextmanager
async def running(
    home: Home, settings: Settings, listener: Listener, logs: Logs, clock: Clock
) -> AsyncIterator[Cluster]:
    network = settings_of_network(home, settings.choices)
    async with AsyncExitStack() as stack:
        beside = await stack.enter_async_context(asyncio.TaskGroup())
        kubevirt_start = (
            Start(beside, is_separate=settings.is_separate) if settings.has_kubevirt else None
        )
        with step(listener, "certificates"):
            root = stack.enter_context(Root.open(home.pki))
            known = _identities(home, root, settings, network, clock)
            await stack.enter_async_context(background(known.run()))
        with step(listener, "API server") as current:
            server = await stack.enter_async_context(
                serving(_server(home, settings, known), clock=clock)
            )
            current.detail = server.url
        clients = Clients(known, settings.url, clock, stack)
        if kubevirt_start:
            kubevirt_start.install(home, known, await clients.of(INSTALLER), clock)
        # From here on there are things that outlive us.
        home.remember(settings.choices)
        home.enter(_entry(settings, clock))
        if former := former_nodes.names(home, settings.nodes):
            with step(listener, "nodes that are gone") as current:
                await former_nodes.dismiss(home, former, await clients.of(NODE_CONTROLLER))
                current.detail = ", ".join(former)
        with step(listener, "network") as current:
            network_client = await clients.of(NETWORK)
            networks = await stack.enter_async_context(
                opened(network, network_client, clock, door=server.also_on)
            )
            current.detail = f"pods {settings.pods}, services {settings.services}"
        with step(listener, "scheduler, controllers"):
            await stack.enter_async_context(scheduling(await clients.of(SCHEDULER), clock))
            manager, acting = await clients.of(CONTROLLERS), await clients.of(NODE_CONTROLLER)
            await stack.enter_async_context(controlling(manager, clock, acting=acting))
            await stack.enter_async_context(following(network_client, clock))
        with step(listener, "images, storage"):
            keeper = stack.enter_context(Keeper.open(settings.keeper))
            images = ImageStore(
                ImageSettings(folder=home.images, archives=settings.archives), clock
            )
            await images.collect(nodes.roots_in_use(home))
            shared = Shared(home, known, images, keeper, clock)
            storage = StorageController(
                await clients.of(STORAGE), home.volumes, shared.loops, clock
            )
            await stack.enter_async_context(background(storage.run()))
        with step(listener, "nodes") as current:
            ready = [
                await stack.enter_async_context(
                    nodes.running(
                        name, shared, networks.node(name), await clients.of(of_node(name))
                    )
                )
                for name in settings.nodes
            ]
            current.detail = ", ".join(settings.nodes)
        programs = None
        if kubevirt_start:
            with step(listener, "KubeVirt") as current:
                place = Place(
                    home=home,
                    url=settings.url,
                    known=known,
                    callees=server.callees,
                    networks=networks,
                    nodes=settings.nodes,
                    clock=clock,
                    set_verbosity=logs.set_verbosity,
                )
                programs, installed = await kubevirt_start.programs(place)
                current.detail = "installed" if installed.is_new else ""
                await stack.enter_async_context(programs.running())
            await stack.enter_async_context(background(images.learn()))  # nobody waits for it
        # Begun with the network; by now there is hardly anything left to wait for.
        with step(listener, "Services, names"):
            await networks.settled()
        yield Cluster(networks, ready, programs)


class Clients:
    """One for each identity, closed with everything else."""

    def __init__(self, known: Identities, url: str, clock: Clock, stack: AsyncExitStack) -> None:
        self._known = known
        self._url = url
        self._clock = clock
        self._stack = stack

    async def of(self, name: str) -> Client:
        config = self._known.config(name, self._url)
        return await self._stack.enter_async_context(Client(config, clock=self._clock))


def _identities(
    home: Home, root: Root, settings: Settings, network: NetworkSettings, clock: Clock
) -> Identities:
    """With the administrator's kubeconfig, which changes with them."""
    nodes = {name: (str(network.node_address(name)), LOOPBACK) for name in settings.nodes}
    known = Identities(home.pki, root, settings.services, clock, nodes=nodes)
    own = kubeconfig.content(settings.url, known.authority, *known.administrator)
    with Root.open(home.path) as folder:
        folder.write("kubeconfig", kubeconfig.text(own))
    return known


def _server(home: Home, settings: Settings, known: Identities) -> ServerSettings:
    return ServerSettings(
        data=home.store,
        host=LOOPBACK,
        port=settings.port,
        certificate=known.serving,
        access=known.access,
        front_proxy=known.proxy,
        services=ServiceAddressSettings(cidr=settings.services),
        kubelets=KubeletSettings(authority=known.authority, client=known.files(KUBELET_CLIENT)),
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
        has_kubevirt=settings.has_kubevirt,
    )
