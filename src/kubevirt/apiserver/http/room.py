"""Room for bodies: how much of what was sent may be in memory at once, of all requests together.

Whoever comes with a large body waits until there is room, in the order of arrival; small ones pass by.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from kubevirt.apiserver.http.limits import Limits


class Room:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._free = limits.bodies_bytes
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def for_body_of(self, request: web.BaseRequest) -> AsyncIterator[None]:
        size = self._size(request)
        if not size:
            yield
            return
        await self._take(size)
        try:
            yield
        finally:
            self._give(size)

    def _size(self, request: web.BaseRequest) -> int:
        """Of a body that counts; one of unknown length may be as large as any."""
        if not request.can_read_body:
            return 0
        size = request.content_length
        if size is not None and size < self._limits.small_body_bytes:
            return 0
        most = self._limits.body_bytes
        return most if size is None else min(size, most)

    async def _take(self, size: int) -> None:
        if not self._waiting and self._free >= size:
            self._free -= size
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give(size)  # it was let in, and left in the same moment
            raise

    def _give(self, size: int) -> None:
        self._free += size
        while self._waiting:
            wanted, turn = self._waiting[0]
            if not turn.done() and self._free < wanted:
                return
            self._waiting.popleft()
            if not turn.done():
                self._free -= wanted
                turn.set_result(None)
