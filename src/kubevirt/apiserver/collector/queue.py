"""The line of keys to look at: each by one worker at a time, in the order in which they came.

A key added again while it waits is still one key; added while a worker has it, it comes once more, at
the end of the line. One that is not done with comes back after a pause that grows, so that nobody who
undoes our work makes us busy. Nothing runs while the line is empty: all pauses share one timer.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import Final

from kubevirt.apiserver.refusals import Refusal
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

LookAt = Callable[[str], Awaitable[bool]]
"""Whether there is nothing more to do about a key, for now."""
FIRST_PAUSE_S: Final = 0.005
LONGEST_PAUSE_S: Final = 60.0


class Queue:
    def __init__(self, clock: Clock, what: str) -> None:
        self._clock = clock
        self._what = what
        self._line: asyncio.Queue[str] = asyncio.Queue()
        self._lined: set[str] = set()
        self._running: set[str] = set()
        self._again: set[str] = set()
        self._due: dict[str, float] = {}
        """When a key comes back that is not done with."""
        self._later: list[tuple[float, str]] = []
        """The same in the order of time, with some that are no longer true."""
        self._sooner = asyncio.Event()
        self._pauses: dict[str, float] = {}

    def add(self, key: str) -> None:
        if key in self._running:
            self._again.add(key)
        elif key not in self._lined:
            self._lined.add(key)
            self._line.put_nowait(key)

    def add_after(self, key: str, seconds: float) -> None:
        """Unless it comes back sooner anyway."""
        due = self._clock.monotonic() + seconds
        if due < self._due.get(key, inf):
            self._due[key] = due
            heapq.heappush(self._later, (due, key))
            self._sooner.set()

    async def run(self, look_at: LookAt, workers: int) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._bring_back())
            for _ in range(workers):
                tasks.create_task(self._work(look_at))

    async def _work(self, look_at: LookAt) -> None:
        while True:
            key = await self._line.get()
            self._lined.discard(key)
            self._running.add(key)
            try:
                await self._try(look_at, key)
            finally:
                self._running.discard(key)
                if key in self._again:
                    self._again.discard(key)
                    self.add(key)

    async def _try(self, look_at: LookAt, key: str) -> None:
        is_done = False
        try:
            is_done = await look_at(key)
        except (Refusal, Retry) as error:
            log.info("tried again later", what=self._what, key=key, reason=error)
        except Exception as error:  # noqa: BLE001  # a mistake of ours must not end the server
            log.warning("could not be done", what=self._what, key=key, error=error)
        if is_done:
            self._pauses.pop(key, None)
            return
        pause_s = self._pauses.get(key, FIRST_PAUSE_S)
        self._pauses[key] = min(pause_s * 2, LONGEST_PAUSE_S)
        self.add_after(key, pause_s)

    async def _bring_back(self) -> None:
        while True:
            self._sooner.clear()
            wait_s = self._later[0][0] - self._clock.monotonic() if self._later else None
            if wait_s is not None and wait_s <= 0:
                due, key = heapq.heappop(self._later)
                if self._due.get(key) == due:
                    del self._due[key]
                    self.add(key)
                continue
            with suppress(TimeoutError):
                async with self._clock.timeout(wait_s):
                    await self._sooner.wait()
