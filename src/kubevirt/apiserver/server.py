"""The API server as a whole: settings in, a running server out.

    async with serving(ServerSettings(data=folder / "store.db", tokens={"secret": ADMIN})) as server:
        ...                                 # server.url answers

What is below starts first and ends last: the store, then the kinds, then the port.
"""

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.apiserver.auth.access import Access, AccessSettings
from kubevirt.apiserver.auth.audit_log import AuditLog, AuditLogSettings
from kubevirt.apiserver.http.access import AUTHENTICATED, KnownClients, MastersOnly
from kubevirt.apiserver.http.audited import AuditedFront, Handler
from kubevirt.apiserver.http.doors import Doors
from kubevirt.apiserver.http.front import Front
from kubevirt.apiserver.http.serving import listening
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.registry import binding, creating
from kubevirt.apiserver.registry.admission import Admission, Step
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.chance import TrueChance
from kubevirt.apiserver.registry.definitions import Definitions
from kubevirt.apiserver.registry.identity import MASTERS, SERVER, Identity
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.storage.sqlite import SqliteSettings, open_store
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.tasks import background

ADMINISTRATOR: Final = Identity(user="kubernetes-admin", groups=(MASTERS, AUTHENTICATED))
FIRST_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    data: Path
    """The file of the store; made if there is none."""
    host: str = "127.0.0.1"
    port: int = 0
    """0 lets the system choose."""
    tls: ssl.SSLContext | None = None
    """None for plain HTTP, which is for the loopback address only. A context that asks for client
    certificates lets those in whom its authorities vouch for."""
    tokens: Mapping[str, Identity] = {}
    """Who comes with which bearer token."""
    access: AccessSettings | None = None
    """Who is let in, and what they may. None for a server of one's own, without roles: `tokens` and the
    certificates of administrators open it, and nothing else."""
    audit: AuditLogSettings | None = None
    """Where every request is written down. Needs `access`, which knows who asked."""
    admission: Sequence[Step] = ()
    """Who may change or refuse a write, in order."""
    store: StoreSettings = StoreSettings()
    sqlite: SqliteSettings = SqliteSettings()


class ApiServer(msgspec.Struct, frozen=True, kw_only=True):
    """One that runs."""

    url: str
    port: int
    registry: Registry


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
        access = Access(settings.access, store, catalog, clock) if settings.access else None
        registry = Registry(
            store,
            catalog,
            clock=clock,
            chance=TrueChance(),
            admission=Admission([*(access.steps if access else ()), *settings.admission]),
        )
        registry.answerers["", "pods", "binding"] = partial(binding.bind, registry)
        await _make_first_namespaces(registry)
        definitions = Definitions(registry)
        await definitions.load()
        await stack.enter_async_context(background(definitions.run()))
        doors = None
        if access:
            await access.attach(registry)
            await stack.enter_async_context(background(access.run()))
            doors = Doors(access.authentication, access.authorization)
        front: Handler = Front(
            registry,
            authenticator=doors or KnownClients(settings.tokens),
            authorizer=doors or MastersOnly(),
            address=f"{settings.host}:{settings.port}",
        )
        if access and settings.audit:
            log = stack.enter_context(AuditLog(settings.audit))
            front = AuditedFront(front, log, access.authorization, clock)
        port = await stack.enter_async_context(
            listening(front, settings.host, settings.port, settings.tls)
        )
        scheme = "https" if settings.tls else "http"
        yield ApiServer(url=f"{scheme}://{settings.host}:{port}", port=port, registry=registry)


async def _make_first_namespaces(registry: Registry) -> None:
    kind = registry.catalog.namespaces
    for name in FIRST_NAMESPACES:
        if await registry.store.get(kind.key("", name)):
            continue
        call = Call(
            verb="create",
            kind=kind,
            version=kind.storage_version,
            identity=SERVER,
            user_agent="kube-apiserver",
        )
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await creating.store_new(registry, call, body, WriteOptions(manager="kube-apiserver"))
