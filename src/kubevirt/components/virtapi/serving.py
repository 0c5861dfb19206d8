"""The doors: a TLS port for an API server elsewhere, a private unix socket for one of the same process.

    async with serving(front, Doors(tls=context, host="0.0.0.0", port=8443), clock) as port:
        ...

The context must ask for certificates of clients and trust nobody for them but the front proxy's authority. The
socket has mode 0600 before anybody can come to it.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiohttp import web

from kubevirt.base.clock import Clock
from kubevirt.base.entrance import Entrance
from kubevirt.base.log import get_logger
from kubevirt.components.virtapi.front import Front
from kubevirt.components.virtapi.keepalive import watch_over

log = get_logger(__name__)

SHUTDOWN_S: Final = 1.0
CONNECTIONS: Final = 4000
"""Consoles stay open for hours; a crowd that only wants to keep the door busy is let go."""
IDLE_S: Final = 90.0
LINE_BYTES: Final = 16 << 10
"""Of one header, or of the first line."""
HEADERS: Final = 512
"""Somebody may be in many groups, each with a header of its own."""
STALLED_S: Final = 4 * 3600
"""For a peer that takes nothing: a person may leave a pager alone for long."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Doors:
    tls: ssl.SSLContext | None = None
    """None: no port."""
    host: str = "127.0.0.1"
    port: int = 0
    """0 lets the system choose."""
    socket: Path | None = None


@asynccontextmanager
async def serving(front: Front, doors: Doors, clock: Clock) -> AsyncIterator[int]:
    """The port; 0 if there is none."""
    gate = _Gate(front)
    runner = web.ServerRunner(gate, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    entrance = Entrance(gate, clock)

    async def end() -> None:
        await front.callers.hang_up()
        await runner.cleanup()

    async with AsyncExitStack() as stack:
        stack.push_async_callback(entrance.close, end)
        port = 0
        if doors.tls is not None:
            port = await entrance.open(doors.host, doors.port, tls=doors.tls)
        if doors.socket is not None:
            stack.callback(doors.socket.unlink, missing_ok=True)
            await entrance.open_on(_bound(doors.socket))
        log.info("virt-api listens", port=port, socket=str(doors.socket or ""))
        yield port


def _bound(path: Path) -> socket.socket:
    """In place of one that somebody left there who died."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)  # before it listens
    except OSError:
        listener.close()
        raise
    return listener


class _Gate(web.Server):
    """Makes a handler of each connection that is not one too many."""

    def __init__(self, front: Front) -> None:
        super().__init__(front.handle, handler_cancellation=True)

    def __call__(self) -> web.RequestHandler:
        return _Connection(
            self,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # aiohttp's own way to have none
            keepalive_timeout=IDLE_S,
            max_line_size=LINE_BYTES,
            max_field_size=LINE_BYTES,
            max_headers=HEADERS,
            auto_decompress=False,
        )

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        _watch_over(transport)
        if len(self.connections) > CONNECTIONS:
            log.warning("too many connections, one is closed")
            transport.abort()


class _Connection(web.RequestHandler):
    """A client that leaves is no cause for a stack trace in the log."""

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
        response = web.Response(status=status, text=message)
        response.force_close()
        return response


def _watch_over(transport: asyncio.BaseTransport) -> None:
    opened = transport.get_extra_info("socket")
    watch_over(opened)
    if opened is not None and opened.family in (socket.AF_INET, socket.AF_INET6):
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_S * 1000)
