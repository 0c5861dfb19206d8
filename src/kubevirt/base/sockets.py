"""The sockets of one client or of one server: none outlives whose they are.

    sockets = Sockets()
    ours = sockets.keep(socket.socket())
    ...
    await sockets.hang_up(clock)

Who speaks HTTP forgets connections that are still about to end, and so every watch and everybody to whom a
server has said goodbye: TLS waits for an echo, which a program that ends does not stay to hear. So the sockets
are kept here, and whoever hangs up sees the last of them close.
"""

import asyncio
import socket
from contextlib import suppress

from kubevirt.base.clock import Clock

UNATTENDED_S = 1.0


class Sockets:
    def __init__(self) -> None:
        self._open: set[_Kept] = set()
        self._none_left = asyncio.Event()

    def __len__(self) -> int:
        return len(self._open)

    def keep(self, opened: socket.socket) -> socket.socket:
        """In place of the one that was given."""
        kept = _Kept(self, opened)
        self._open.add(kept)
        return kept

    async def hang_up(self, clock: Clock, farewell_s: float = 0.0) -> None:
        """Ends every connection, and returns when their sockets are closed. Whoever is about to leave may do so
        by themselves for a moment.

        Shutting down is seen by whoever reads the socket, which then closes it. To close it here would
        leave the event loop with a file number that is another's the next moment; that is left for
        sockets which nobody has looked at for `UNATTENDED_S`.
        """
        if farewell_s:
            await self._emptied(clock, farewell_s)
        for each in self._open:
            with suppress(OSError):  # not connected
                each.shutdown(socket.SHUT_RDWR)
        await self._emptied(clock, UNATTENDED_S)
        for each in tuple(self._open):
            each.close()

    async def _emptied(self, clock: Clock, limit_s: float) -> None:
        self._none_left.clear()
        if self._open:
            with suppress(TimeoutError):
                async with clock.timeout(limit_s):
                    await self._none_left.wait()

    def forget(self, closed: "_Kept") -> None:
        self._open.discard(closed)
        if not self._open:
            self._none_left.set()


class _Kept(socket.socket):
    def __init__(self, owner: Sockets, opened: socket.socket) -> None:
        kind = (opened.family, opened.type, opened.proto)
        waits_s = opened.gettimeout()
        super().__init__(*kind, fileno=opened.detach())
        self.settimeout(waits_s)
        self._owner = owner

    def close(self) -> None:
        super().close()
        self._owner.forget(self)

    def detach(self) -> int:
        self._owner.forget(self)
        return super().detach()
