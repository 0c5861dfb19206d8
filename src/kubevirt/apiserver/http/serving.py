"""A port on which the front is reached, and what is asked of those who come to it.

Whoever opens connections without end, sends nothing, or takes nothing of what is sent to them, is cut
off here, before a request of theirs is looked at or an answer fills the memory.
"""

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from kubevirt.apiserver import refusals
from kubevirt.apiserver.http import responses
from kubevirt.apiserver.http.audited import Handler
from kubevirt.apiserver.http.limits import Limits
from kubevirt.base.clock import Clock
from kubevirt.base.entrance import Entrance
from kubevirt.base.log import get_logger

log = get_logger(__name__)

SHUTDOWN_S: Final = 1.0
"""How long open requests may take to end when the server does. Watches end at once."""
BACKLOG: Final = 1024


class Listening:
    """The port, and how to open the same on sockets of others."""

    def __init__(self, entrance: Entrance, tls: ssl.SSLContext | None, port: int) -> None:
        self.port = port
        self._entrance = entrance
        self._tls = tls

    @asynccontextmanager
    async def also_on(self, listener: socket.socket) -> AsyncIterator[None]:
        """Serves on a listening socket while the body runs, and closes it."""
        door = await self._entrance.open_on(listener, tls=self._tls)
        try:
            yield
        finally:
            await door.shut()


@asynccontextmanager
async def listening(
    front: Handler,
    host: str,
    port: int,
    clock: Clock,
    tls: ssl.SSLContext | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[Listening]:
    """On a port, which the system chooses if it is 0."""
    limits = limits or Limits()
    gate = Gate(front, limits)
    runner = web.ServerRunner(gate, shutdown_timeout=SHUTDOWN_S)
    entrance = Entrance(gate, clock, handshake_s=limits.handshake_s, backlog=BACKLOG)
    await runner.setup()
    try:
        yield Listening(entrance, tls, await entrance.open(host, port, tls=tls))
    finally:
        await entrance.close(runner.cleanup)


class Gate(web.Server):
    """Makes a `Connection` of each that is not one too many."""

    def __init__(self, front: Handler, limits: Limits) -> None:
        super().__init__(front.handle, handler_cancellation=True)
        self._limits = limits
        self._peers: Counter[str] = Counter()
        self._peer_of: dict[web.RequestHandler, str] = {}

    def __call__(self) -> web.RequestHandler:
        limits = self._limits
        return Connection(
            self,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # aiohttp's own way to have none
            keepalive_timeout=limits.idle_s,
            max_line_size=limits.line_bytes,
            max_field_size=limits.line_bytes,
            max_headers=limits.headers,
            auto_decompress=False,  # Kubernetes does not unpack what it is sent either
        )

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        limits, peer = self._limits, _peer(transport)
        self._peer_of[handler] = peer
        self._peers[peer] += 1
        _give_up_after(transport, limits.stalled_s)
        is_crowd = self._peers[peer] > limits.connections_of_peer
        if is_crowd or len(self._peer_of) > limits.connections:
            log.warning("too many connections, one is closed", peer=peer)
            transport.abort()

    def connection_lost(
        self, handler: web.RequestHandler, exc: BaseException | None = None
    ) -> None:
        super().connection_lost(handler, exc)
        peer = self._peer_of.pop(handler)
        self._peers[peer] -= 1
        if not self._peers[peer]:
            del self._peers[peer]


class Connection(web.RequestHandler):
    """What cannot be read as HTTP gets a `Status` too. Neither that, nor a client that leaves, is a cause
    for a stack trace in the log.
    """

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if isinstance(exc, ConnectionError):
            raise exc  # whoever asked has left: there is nobody to be told
        if status >= 500:  # the front lets none out
            return super().handle_error(request, status, exc, message)
        log.debug("a request could not be read", peer=request.remote, reason=message)
        unread = refusals.bad_request(f"the request cannot be read: {message}")
        response = responses.refused(unread.status)
        response.force_close()
        return response


def _peer(transport: asyncio.BaseTransport) -> str:
    address = transport.get_extra_info("peername")
    return str(address[0]) if isinstance(address, tuple) and address else ""


def _give_up_after(transport: asyncio.BaseTransport, seconds: float) -> None:
    """The kernel ends a connection whose peer takes nothing for so long, also one that only says that
    it has no room.
    """
    found = transport.get_extra_info("socket")
    if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))
