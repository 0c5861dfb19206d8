"""The API server as a whole: settings in, a running server out.

    async with serving(ServerSettings(data=folder / "store.db", tokens={"secret": ADMIN})) as server:
        ...                                 # server.url answers

What is below starts first and ends last: the store, then the kinds, then the port.
"""

import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.apiserver import plugins
from kubevirt.apiserver.admission.webhooks import Webhooks
from kubevirt.apiserver.aggregation.aggregation import Aggregation
from kubevirt.apiserver.auth.access import Access, AccessSettings
from kubevirt.apiserver.auth.audit_log import AuditLog, AuditLogSettings
from kubevirt.apiserver.auth.serving_certificate import ServingCertificate
from kubevirt.apiserver.beginnings import Itself, make_first
from kubevirt.apiserver.callees.callee import ClientFiles
from kubevirt.apiserver.callees.callees import Callees
from kubevirt.apiserver.callees.services import Services
from kubevirt.apiserver.collector.collector import Collector, CollectorSettings
from kubevirt.apiserver.collector.journal import AuditJournal
from kubevirt.apiserver.collector.protection import NamespaceProtection
from kubevirt.apiserver.http.access import AUTHENTICATED, KnownClients, MastersOnly
from kubevirt.apiserver.http.audited import AuditedFront, Handler
from kubevirt.apiserver.http.doors import Doors
from kubevirt.apiserver.http.front import Front
from kubevirt.apiserver.http.kubelets import Kubelets, KubeletSettings
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.http.serving import listening
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.plugins.service_addresses import ServiceAddressSettings
from kubevirt.apiserver.registry import pod_endpoints
from kubevirt.apiserver.registry.admission import Admission, Step
from kubevirt.apiserver.registry.chance import TrueChance
from kubevirt.apiserver.registry.definitions import Definitions
from kubevirt.apiserver.registry.identity import MASTERS, Identity
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.resting import Resting
from kubevirt.apiserver.storage.sqlite import SqliteSettings, open_store
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.tasks import background

ADMINISTRATOR: Final = Identity(user="kubernetes-admin", groups=(MASTERS, AUTHENTICATED))


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    data: Path
    """The file of the store; made if there is none."""
    host: str = "127.0.0.1"
    port: int = 0
    """0 lets the system choose."""
    tls: ssl.SSLContext | None = None
    """None for plain HTTP, which is for the loopback address only. A context that asks for client
    certificates lets those in whom its authorities vouch for."""
    certificate: ServingCertificate | None = None
    """In place of `tls`, the server's own, renewed while it serves."""
    tokens: Mapping[str, Identity] = {}
    """Who comes with which bearer token."""
    access: AccessSettings | None = None
    """Who is let in, and what they may. None for a server of one's own, without roles: `tokens` and the
    certificates of administrators open it, and nothing else."""
    front_proxy: ClientFiles | None = None
    """The certificate by which aggregated APIs know that it is us who say who asks. None for those of the
    same process only, and for those that believe everybody."""
    services: ServiceAddressSettings = ServiceAddressSettings()
    kubelets: KubeletSettings = KubeletSettings()
    """How nodes are reached for logs and terminals of their pods."""
    audit: AuditLogSettings | None = None
    """Where every request is written down. Needs `access`, which knows who asked."""
    admission: Sequence[Step] = ()
    """Who may change or refuse a write, in order."""
    collector: CollectorSettings = CollectorSettings()
    """What becomes of objects by themselves: dependants, namespaces, old events."""
    limits: Limits = Limits()
    store: StoreSettings = StoreSettings()
    sqlite: SqliteSettings = SqliteSettings()


class ApiServer(msgspec.Struct, frozen=True, kw_only=True):
    """One that runs."""

    url: str
    port: int
    registry: Registry
    callees: Callees
    """Where a program of this process registers, to be called without a network."""
    also_on: Callable[[socket.socket], AbstractAsyncContextManager[None]]
    """Serves the same on another listening socket, while the body of what it returns runs."""


@asynccontextmanager
async def serving(
    settings: ServerSettings, *, clock: Clock | None = None
) -> AsyncIterator[ApiServer]:
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            open_store(settings.data, clock=clock, settings=settings.store, sqlite=settings.sqlite)
        )
        catalog = Catalog()
        chance = TrueChance()
        callees = Callees(Services(store, catalog))
        stack.push_async_callback(callees.close)
        webhooks = Webhooks(store, catalog, callees, clock=clock, chance=chance)
        access = Access(settings.access, store, catalog, clock) if settings.access else None
        registry = Registry(
            store,
            catalog,
            clock=clock,
            chance=chance,
            admission=Admission(
                [
                    NamespaceProtection(),
                    *plugins.steps(store, catalog, clock, chance, settings.services),
                    *(access.steps if access else ()),
                    *settings.admission,
                ],
                webhooks,
            ),
        )
        pod_endpoints.register(registry)
        itself = Itself(host=settings.host, port=settings.port, services=settings.services.cidr)
        await make_first(registry, itself)
        definitions = Definitions(registry)
        await definitions.load()
        await stack.enter_async_context(background(definitions.run()))
        await stack.enter_async_context(background(Resting(catalog, clock).run()))
        doors = None
        if access:
            await access.attach(registry)
            await stack.enter_async_context(background(access.run()))
            doors = Doors(access.authentication, access.authorization)
        aggregation = Aggregation(
            registry, callees, client=settings.front_proxy, access=settings.access
        )
        await aggregation.load()
        # What the server makes before it serves, it asks nobody about: whoever would answer may need it.
        await webhooks.configurations.load()
        await stack.enter_async_context(background(webhooks.configurations.run()))
        await stack.enter_async_context(background(aggregation.run()))
        audit = stack.enter_context(AuditLog(settings.audit)) if settings.audit else None
        journal = AuditJournal(audit, clock) if audit else None
        collector = Collector(registry, settings.collector, journal)
        await collector.prepare()
        await stack.enter_async_context(background(collector.run()))
        front: Handler = Front(
            registry,
            aggregation,
            Kubelets(registry, callees, settings.kubelets),
            authenticator=doors or KnownClients(settings.tokens),
            authorizer=doors or MastersOnly(),
            address=f"{settings.host}:{settings.port}",
            limits=settings.limits,
        )
        if access and audit:
            front = AuditedFront(front, audit, access.authorization, clock)
        tls = settings.tls
        if settings.certificate:
            tls = settings.certificate.context
            await stack.enter_async_context(background(settings.certificate.run()))
        found = await stack.enter_async_context(
            listening(front, settings.host, settings.port, clock, tls, settings.limits)
        )
        scheme = "https" if tls else "http"
        yield ApiServer(
            url=f"{scheme}://{settings.host}:{found.port}",
            port=found.port,
            registry=registry,
            callees=callees,
            also_on=found.also_on,
        )
