"""Who has connected to a server of ours, so that it can hang up on them when it ends."""

import asyncio
from contextlib import suppress
from weakref import WeakSet


class Callers:
    def __init__(self) -> None:
        self._connections: WeakSet[asyncio.Transport] = WeakSet()

    def add(self, connection: asyncio.Transport | None) -> None:
        """None for one that has left already."""
        if connection is not None:
            self._connections.add(connection)

    async def hang_up(self) -> None:
        """On those who are still there. TLS would wait for each to say goodbye."""
        for each in tuple(self._connections):
            with suppress(AttributeError):  # what Python's TLS has to say of one that is closed
                each.abort()
        await asyncio.sleep(0)  # by then they are closed
