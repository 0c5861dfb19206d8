"""A program that is kept alive: when it fails it is started again, a little later each time.

What goes wrong in one of them is nobody else's trouble: guests go on, and so does the home.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import Latch

log = get_logger(__name__)

FIRST_S: Final = 0.5
MOST_S: Final = 30.0
STEADY_S: Final = 10.0
"""Who has worked for so long fails as for the first time."""

Work = Callable[["Kept"], Awaitable[None]]


class Kept:
    """One of them. Its work says `at_work` when it can do something for others, and for as long as it can."""

    def __init__(self, name: str, work: Work, clock: Clock, changed: Callable[[], None]) -> None:
        self.name = name
        self.ready = Latch()
        """Opened when it was first at work."""
        self.is_at_work = False
        self.trouble = ""
        """Why it is not at work, if it failed."""
        self.failures = 0
        self.pid = 0
        """Of its process, if it has one of its own and is at work there."""
        self._work = work
        self._clock = clock
        self._changed = changed
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def at_work(self, pid: int = 0) -> Iterator[None]:
        self.is_at_work, self.trouble, self.pid = True, "", pid
        self.ready.open()
        self._changed()
        try:
            yield
        finally:
            self.is_at_work, self.pid = False, 0
            if self._task is None or not self._task.cancelling():
                self._changed()

    async def run(self) -> None:
        """Until cancelled."""
        self._task = asyncio.current_task()
        wait_s = FIRST_S
        while True:
            began = self._clock.monotonic()
            self.trouble = await self._once()
            self.failures += 1
            self._changed()
            if self._clock.monotonic() - began >= STEADY_S:
                wait_s = FIRST_S
            await self._clock.sleep(wait_s)
            wait_s = min(2 * wait_s, MOST_S)

    async def _once(self) -> str:
        """How it failed."""
        try:
            await self._work(self)
        except Exception as error:  # whatever it is, the others go on
            _check_that_we_go_on()
            log.exception("a program failed and is started again", program=self.name)
            return str(error) or type(error).__name__
        log.error("a program ended by itself and is started again", program=self.name)
        return "it ended by itself"

    async def end(self) -> None:
        """For good."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])


def _check_that_we_go_on() -> None:
    """A group of tasks that is told to end while one of them fails tells of the failure only."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
