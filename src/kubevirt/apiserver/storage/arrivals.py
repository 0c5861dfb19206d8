"""Who waits for a revision that has not happened yet."""

import asyncio

from kubevirt.apiserver.storage.errors import StoreClosed


class Arrivals:
    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[None], int] = {}

    async def wait(self, revision: int) -> None:
        arrival: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[arrival] = revision
        try:
            await arrival
        finally:
            del self._waiting[arrival]

    def reach(self, revision: int) -> None:
        for arrival, wanted in self._waiting.items():
            if wanted <= revision and not arrival.done():
                arrival.set_result(None)

    def close(self) -> None:
        for arrival in self._waiting:
            if not arrival.done():
                arrival.set_exception(StoreClosed())
