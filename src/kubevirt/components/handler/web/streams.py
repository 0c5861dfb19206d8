"""A socket of QEMU's on one side, a websocket on the other: bytes both ways, a handful at a time.

Nothing is kept: who does not read makes the other side wait. One caller at a time has a guest's line; the next
takes it over.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from aiohttp import WSMsgType, web

from kubevirt.base import unix_sockets
from kubevirt.base.clock import Clock
from kubevirt.base.files import Root
from kubevirt.base.tasks import first_of
from kubevirt.components.handler.web.errors import Denied

CHUNK: Final = 10240
"""Bytes; KubeVirt's buffer."""
MESSAGE_LIMIT: Final = 1 << 20
CONNECT_S: Final = 10.0
CLOSE_S: Final = 5.0


@asynccontextmanager
async def line_to(folder: Root, name: str, clock: Clock) -> AsyncIterator[socket.socket]:
    """A connection to a socket of the guest's, which is what it seems to be: no link is followed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as line:
        try:
            with folder.connectable(name) as address:
                async with clock.timeout(CONNECT_S):
                    await unix_sockets.connect(line, address, clock)
        except (OSError, TimeoutError):
            raise Denied(
                503, "the guest has no such line open; it may be starting, or ending"
            ) from None
        yield line


async def carry(line: socket.socket, caller: web.WebSocketResponse) -> None:
    """Until either side ends."""
    await first_of(_from_guest(line, caller), _to_guest(caller, line))


async def _from_guest(line: socket.socket, caller: web.WebSocketResponse) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while data := await loop.sock_recv(line, CHUNK):
            await caller.send_bytes(data)


async def _to_guest(caller: web.WebSocketResponse, line: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        async for message in caller:
            if message.type is WSMsgType.BINARY:
                await loop.sock_sendall(line, message.data)
            elif message.type is WSMsgType.TEXT:
                await loop.sock_sendall(line, message.data.encode())


class Lines:
    """Who has which line of which guest now."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._takers: dict[tuple[str, str], _Taker] = {}

    def is_taken(self, uid: str, kind: str) -> bool:
        return (uid, kind) in self._takers

    @asynccontextmanager
    async def taken(self, uid: str, kind: str) -> AsyncIterator[asyncio.Event]:
        """The line is the caller's until the event is set: somebody else has come."""
        key, mine = (uid, kind), _Taker()
        before = self._takers.get(key)
        self._takers[key] = mine
        try:
            if before is not None:
                before.is_wanted.set()
                async with self._clock.timeout(CLOSE_S):
                    await before.is_free.wait()
            yield mine.is_wanted
        except TimeoutError:
            raise Denied(503, "the line is taken, and whoever has it does not let go") from None
        finally:
            mine.is_free.set()
            if self._takers.get(key) is mine:
                del self._takers[key]


class _Taker:
    def __init__(self) -> None:
        self.is_wanted = asyncio.Event()
        self.is_free = asyncio.Event()
