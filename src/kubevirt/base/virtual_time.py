"""Virtual time: an event loop that jumps to the next timer instead of waiting for it.

All of asyncio's time comes from `loop.time()`, and a loop waits in one place, its selector. So it is
enough to replace these two: when nothing is ready, time moves to the next timer at once. Sleeps,
timeouts and back-offs then cost nothing and happen in exact order, and a test that sleeps an hour
is instant and deterministic.

Real sockets and threads do not mix with it: time would run ahead of them. Code under virtual time
talks to in-process doubles.
"""

import asyncio
import selectors
from collections.abc import Coroutine, Iterable
from datetime import UTC, datetime, timedelta
from types import CoroutineType
from typing import Any, TypeVar

T = TypeVar("T")

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
"""Where virtual wall time starts: a date that no real timestamp of a test run has."""


class StuckError(AssertionError):
    """Nothing is ready, no timer is set: under virtual time this would wait forever."""

    def __init__(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        waiting = sorted(f"\n  {task.get_name()} waits at {_place(task)}" for task in tasks)
        super().__init__("every task waits and no timer will ever wake one" + "".join(waiting))


def _place(task: asyncio.Task[Any]) -> str:
    """The innermost line that awaits: follows the chain of coroutines down from the task's own."""
    awaiting: Any = task.get_coro()
    while isinstance(deeper := getattr(awaiting, "cr_await", None), CoroutineType):
        awaiting = deeper
    frame = getattr(awaiting, "cr_frame", None)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else repr(awaiting)


class _JumpingSelector(selectors.DefaultSelector):
    elapsed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise StuckError(asyncio.all_tasks())
        self.elapsed += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        # A loop runs what is due before `time()` plus this. By default it is a nanosecond, which is
        # lost beside half a year of seconds in a float: the timer would be due and never run.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._jumping.elapsed


class VirtualClock:
    """The clock that belongs to a `VirtualTimeLoop`. Its wall time can be made to jump."""

    def __init__(self) -> None:
        self._wall_offset = timedelta()

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.monotonic()) + self._wall_offset

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> asyncio.Timeout:
        return asyncio.timeout(seconds)

    def jump_wall_clock(self, seconds: float) -> None:
        """What an NTP step or an administrator does: wall time moves, monotonic time does not."""
        self._wall_offset += timedelta(seconds=seconds)


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, under virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
