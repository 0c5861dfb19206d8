"""What a server gives back when nobody has changed a CRD for a moment.

To judge one takes Google's CEL runtime and an engine for patterns, twenty megabytes that a server with CRDs in its store
never loads. Neither can be unloaded, but their code need not stay in memory: the kernel takes it back, and reads
it again when the next rule is judged.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.base import memory
from kubevirt.base.clock import Clock

REST_S: Final = 1.0
"""Without a change. CRDs come one after the other."""
_LIBRARIES: Final = ("/cel_expr_python/", "/jsonschema_rs/", "/libstdc++.so")


async def give_back() -> None:
    await asyncio.to_thread(memory.give_back, _LIBRARIES)


class Resting:
    def __init__(
        self,
        catalog: Catalog,
        clock: Clock,
        rest: Callable[[], Awaitable[None]] = give_back,
    ) -> None:
        self._catalog = catalog
        self._clock = clock
        self._rest = rest
        self._changed = asyncio.Event()

    async def run(self) -> None:
        with self._catalog.followed(self._changed.set):
            while True:
                await self._changed.wait()
                while self._changed.is_set():
                    self._changed.clear()
                    await self._clock.sleep(REST_S)
                await self._rest()
