"""Where a server lets people in. When it is closed, nobody is left inside.

    entrance = Entrance(protocol, clock)
    port = await entrance.open("127.0.0.1", 8443, tls=context)
    ...
    await entrance.close(runner.cleanup)

When a server ends, people may be anywhere: at the door, in the middle of a handshake, or in a farewell that they
do not answer. aiohttp knows only of those who are through the handshake, and is polite to them; asyncio forgets
those whom it let in at the moment in which it closes the door. The sockets of both would be left to the collector
of garbage, which complains of them wherever it happens to run. So an entrance remembers whom it let in.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import Any, Final

from kubevirt.base.clock import Clock
from kubevirt.base.sockets import Sockets

BACKLOG: Final = 256
HANDSHAKE_S: Final = 10.0
FAREWELL_S: Final = 0.3
"""For those who are told goodbye to answer."""

Protocol = Callable[[], asyncio.Protocol]


class Entrance:
    def __init__(
        self,
        protocol: Protocol,
        clock: Clock,
        *,
        backlog: int = BACKLOG,
        handshake_s: float = HANDSHAKE_S,
    ) -> None:
        self._protocol = protocol
        self._clock = clock
        self._backlog = backlog
        self._handshake_s = handshake_s
        self._inside = Sockets()
        self._doors: list[Door] = []

    async def open(self, host: str, port: int, *, tls: ssl.SSLContext | None = None) -> int:
        """At every address that the host has; the port, which the system chooses if it is 0."""
        found = await asyncio.get_running_loop().getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        bound = _bound([(family, address) for family, _, _, _, address in found])
        with ExitStack() as not_open_yet:
            for each in bound:
                not_open_yet.callback(each.close)
            doors = [await self.open_on(each, tls=tls) for each in bound]
        chosen: int = doors[0].address[1]
        return chosen

    async def open_on(
        self, listener: socket.socket, *, tls: ssl.SSLContext | None = None
    ) -> "Door":
        """At a socket that is bound already, which is taken over from whoever gave it."""
        door = Door(self._inside, listener)
        try:
            door.server = await asyncio.get_running_loop().create_server(
                self._protocol,
                sock=door,
                backlog=self._backlog,
                ssl=tls,
                ssl_handshake_timeout=self._handshake_s if tls else None,
            )
        except BaseException:
            door.close()
            raise
        self._doors.append(door)
        return door

    async def close(self, end: Callable[[], Awaitable[None]]) -> None:
        """Nobody else comes in, those who are inside `end` what they are at, and leave."""
        try:
            for each in self._doors:
                await each.shut()
            await end()
        finally:
            await self._inside.hang_up(self._clock, FAREWELL_S)


class Door(socket.socket):
    """A listening socket whose guests are remembered."""

    def __init__(self, inside: Sockets, listener: socket.socket) -> None:
        kind = (listener.family, listener.type, listener.proto)
        super().__init__(*kind, fileno=listener.detach())
        self._inside = inside
        self.server: asyncio.Server | None = None
        self.address = self.getsockname()

    def accept(self) -> tuple[socket.socket, Any]:
        guest, address = super().accept()
        return self._inside.keep(guest), address

    async def shut(self) -> None:
        """Those who were let in a moment ago are received first: of them a closed server wants to know nothing."""
        if self.server is None:
            return  # it is shut already
        server, self.server = self.server, None
        asyncio.get_running_loop().remove_reader(self)
        try:
            await asyncio.sleep(0)
        finally:
            server.close()


def _bound(addresses: Sequence[tuple[int, Any]]) -> Sequence[socket.socket]:
    """All of them, or none and the reason why."""
    with ExitStack() as in_vain:
        bound = []
        for family, address in dict.fromkeys(addresses):
            opened = in_vain.enter_context(socket.socket(family, socket.SOCK_STREAM))
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            _bind(opened, address)
            bound.append(opened)
        in_vain.pop_all()
    return bound


def _bind(opened: socket.socket, address: Any) -> None:
    try:
        opened.bind(address)
    except OSError as error:
        where = f"{address[0]}:{address[1]}"
        raise OSError(
            error.errno, f"cannot listen at {where}: {os.strerror(error.errno or 0)}"
        ) from error
