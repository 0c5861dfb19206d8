"""The connections to callees: one pool for each callee and what it is trusted by, a bounded number.

    callees = Callees(Services(store, catalog))
    callees.register("kubevirt", "virt-api", "/run/…/virt-api.sock")
    async with callees.reached(callee) as way:
        async with way.session.post(f"{way.origin}/validate", data=…) as response:
            …

Nobody follows redirects, keeps cookies or unpacks answers: what a callee says is read as it is, by
whoever knows how much of it to read.
"""

import asyncio
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult

from kubevirt.apiserver.callees.callee import Callee
from kubevirt.apiserver.callees.reuse import noting_reuse
from kubevirt.apiserver.callees.services import Address, Services
from kubevirt.apiserver.callees.tls import client_context
from kubevirt.base.errors import UserError

Listener = Callable[[str, str], None]


class CalleesSettings(msgspec.Struct, frozen=True, kw_only=True):
    pools: int = 64
    """Callees to whom connections are kept; those not used for longest are let go first."""
    connections: int = 1024
    """To one callee: consoles stay open for hours."""
    connect_s: float = 30.0
    """Until a connection stands. Whoever calls has a shorter limit of their own, mostly."""
    idle_s: float = 30.0
    """After which an unused connection is closed."""


class Way(msgspec.Struct, frozen=True):
    """To a callee."""

    session: aiohttp.ClientSession
    origin: str
    """What the path is put behind."""


class _Pool:
    def __init__(self, way: Way) -> None:
        self.way = way
        self.users = 0
        self.is_given_up = False
        """Whether nobody comes any more, so that the last who leaves closes it."""


class Callees:
    def __init__(self, services: Services, settings: CalleesSettings | None = None) -> None:
        self._services = services
        self._settings = settings or CalleesSettings()
        self._sockets: dict[tuple[str, str], str] = {}
        self._listeners: list[Listener] = []
        self._pools: dict[tuple[Callee, str], _Pool] = {}
        """The one that was used last is the last."""

    # Callees of the same process

    def register(self, namespace: str, name: str, path: str) -> None:
        """From now on the Service of this name is whoever listens at the unix socket `path`, which
        must be private: what is said there is believed.
        """
        mode = Path(path).stat().st_mode
        if not stat.S_ISSOCK(mode) or mode & 0o077:
            raise UserError(
                f"{path} is no socket that only its owner can reach; make it with mode 0600",
                reason="NotPrivate",
            )
        self._sockets[namespace, name] = path
        self._tell(namespace, name)

    def forget(self, namespace: str, name: str) -> None:
        self._sockets.pop((namespace, name), None)
        self._tell(namespace, name)

    def is_registered(self, namespace: str, name: str) -> bool:
        return (namespace, name) in self._sockets

    def listen(self, listener: Listener) -> None:
        """Is told the namespace and name of each that registers or is forgotten."""
        self._listeners.append(listener)

    def _tell(self, namespace: str, name: str) -> None:
        for listener in self._listeners:
            listener(namespace, name)

    # Reaching them

    @asynccontextmanager
    async def reached(self, callee: Callee) -> AsyncIterator[Way]:
        """Raises `CalleeAway` if what the object says of it cannot be used."""
        path = self._sockets.get((callee.namespace, callee.name), "") if callee.name else ""
        key = (callee, path)
        pool = self._pools.pop(key, None) or _Pool(self._way(callee, path))
        self._pools[key] = pool
        pool.users += 1
        try:
            await self._let_go()
            yield pool.way
        finally:
            pool.users -= 1
            if pool.is_given_up and not pool.users:
                await pool.way.session.close()

    async def moved(self, namespace: str, name: str = "") -> None:
        """The Service of this name, or any of the namespace, may lead elsewhere by now: what is on its
        way goes on, but no connection is used again.
        """
        gone = [
            key
            for key in self._pools
            if key[0].namespace == namespace and name in ("", key[0].name)
        ]
        for key in gone:
            pool = self._pools.pop(key)
            pool.is_given_up = True
            if not pool.users:
                await pool.way.session.close()

    async def _let_go(self) -> None:
        surplus = len(self._pools) - self._settings.pools
        idle = [key for key, pool in self._pools.items() if not pool.users]
        for key in idle[: max(surplus, 0)]:
            await self._pools.pop(key).way.session.close()

    async def close(self) -> None:
        while self._pools:
            _, pool = self._pools.popitem()
            await pool.way.session.close()

    def _way(self, callee: Callee, path: str) -> Way:
        limit, idle_s = self._settings.connections, self._settings.idle_s
        connector: aiohttp.BaseConnector
        if path:
            connector = aiohttp.UnixConnector(path, limit=limit, keepalive_timeout=idle_s)
            return Way(self._session(connector), f"http://{callee.host}")
        connector = aiohttp.TCPConnector(
            ssl=client_context(callee),
            resolver=_Resolver(self._services, callee) if callee.name else None,
            use_dns_cache=False,
            limit=limit,
            keepalive_timeout=idle_s,
        )
        return Way(self._session(connector), callee.origin)

    def _session(self, connector: aiohttp.BaseConnector) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._settings.connect_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trace_configs=[noting_reuse()],
        )


class _Resolver(AbstractResolver):
    """Of the name that a Service has within the cluster, by the Service itself."""

    def __init__(self, services: Services, callee: Callee) -> None:
        self._services = services
        self._callee = callee

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002  # all of them
    ) -> list[ResolveResult]:
        callee = self._callee
        if (host, port) != (callee.host, callee.port):
            raise OSError(f"{host}:{port} is not {callee.origin}")
        found = await self._services.addresses(callee.namespace, callee.name, port)
        return [result for address in found for result in await _results(host, address)]

    async def close(self) -> None:
        pass


async def _results(hostname: str, address: Address) -> list[ResolveResult]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return [
        ResolveResult(
            hostname=hostname,
            host=str(place[0]),
            port=int(place[1]),
            family=family,
            proto=proto,
            flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
        )
        for family, _, proto, _, place in found
    ]
