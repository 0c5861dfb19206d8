"""The sockets of one client: they notice a machine that is gone, and none outlives its client.

An HTTP session that is closed forgets the connections whose answers were cut short, and so every watch:
TLS says goodbye first and waits for an echo, which a program that ends does not stay to hear. So the
sockets are kept here, and whoever closes the client sees the last of them close.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Any

from kubevirt.base.clock import Clock

UNATTENDED_S = 1.0


class Sockets:
    def __init__(self) -> None:
        self._open: set[_Socket] = set()
        self._none_left = asyncio.Event()

    def __len__(self) -> int:
        return len(self._open)

    def __call__(self, address: tuple[Any, ...]) -> socket.socket:
        """A socket for an address, as aiohttp asks for it."""
        opened = _Socket(self, family=address[0], type=address[1], proto=address[2])
        _notice_silence(opened)
        self._open.add(opened)
        return opened

    async def hang_up(self, clock: Clock) -> None:
        """Ends every connection at once, and returns when their sockets are closed.

        Shutting down is seen by whoever reads the socket, which then closes it. To close it here would
        leave the event loop with a file number that is another's the next moment; that is left for
        sockets which nobody has looked at for `UNATTENDED_S`.
        """
        self._none_left.clear()
        for each in self._open:
            with suppress(OSError):  # not connected
                each.shutdown(socket.SHUT_RDWR)
        if self._open:
            with suppress(TimeoutError):
                async with clock.timeout(UNATTENDED_S):
                    await self._none_left.wait()
        for each in tuple(self._open):
            each.close()

    def forget(self, closed: "_Socket") -> None:
        self._open.discard(closed)
        if not self._open:
            self._none_left.set()


class _Socket(socket.socket):
    def __init__(self, owner: Sockets, **kind: Any) -> None:
        super().__init__(**kind)
        self._owner = owner

    def close(self) -> None:
        super().close()
        self._owner.forget(self)

    def detach(self) -> int:
        self._owner.forget(self)
        return super().detach()


def _notice_silence(opened: socket.socket) -> None:
    """Within half a minute. A watch may be silent for minutes, so silence alone means nothing; the
    kernels ask each other.
    """
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 25_000)
