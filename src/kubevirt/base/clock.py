"""Time, as a value that is handed in.

Whatever waits or reads the time takes a `Clock`. `SystemClock` is the real one; `virtual_time.py`
has the loop and the clock under which an hour passes in a millisecond.

Monotonic time orders and measures; wall time is only shown to people and written in objects. A wall
clock may jump, so no deadline is ever computed from it.
"""

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Wall time, in UTC. For timestamps that people read."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back. For deadlines and durations."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def timeout(self, seconds: float | None) -> asyncio.Timeout:
        """Like `asyncio.timeout`: the body is cancelled and TimeoutError raised after `seconds`."""
        ...


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> asyncio.Timeout:
        return asyncio.timeout(seconds)
