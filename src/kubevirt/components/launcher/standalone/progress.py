"""What the user hears while a run gets ready: nothing if it is quick, a line for what takes its time.

The same stages are the rows of `--timings`.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kubevirt.components.launcher.standalone.voice import say

QUIET_S: Final = 2.0
"""What is over sooner needs no line."""
_STEP_S: Final = 5.0
_BAR: Final = 40


class Stage:
    def __init__(self, words: str) -> None:
        self._words = words
        self._done = ""

    def goes_on(self, words: str) -> None:
        self._words = words

    def bytes(self, done: int, total: int) -> None:
        self._done = f": {done >> 20} of {total >> 20} MiB" if total else ""

    def tell(self) -> None:
        say(f"{self._words}{self._done} …")


class Progress:
    def __init__(self) -> None:
        self._rows: list[tuple[str, float, float]] = [("Python", -_age_s(), 0.0)]
        self._zero = time.monotonic()
        self._timers: dict[Stage, asyncio.TimerHandle] = {}

    @contextmanager
    def stage(self, part: str, words: str) -> Iterator[Stage]:
        """`part` is its row in the table, `words` what to say when it takes long."""
        stage = Stage(words)
        began = time.monotonic()
        loop = asyncio.get_running_loop()
        self._timers[stage] = loop.call_later(QUIET_S, self._tell, stage, loop)
        try:
            yield stage
        finally:
            self._timers.pop(stage).cancel()
            self._rows.append((part, began - self._zero, time.monotonic() - self._zero))

    def _tell(self, stage: Stage, loop: asyncio.AbstractEventLoop) -> None:
        stage.tell()
        self._timers[stage] = loop.call_later(_STEP_S, self._tell, stage, loop)

    def table(self) -> str:
        """Who took when, from the start of the process; parts that ran side by side stand so."""
        start = self._rows[0][1]
        end = max(until for _, _, until in self._rows)
        scale = _BAR / max(end - start, 1e-6)
        lines = []
        for part, began, ended in sorted(self._rows, key=lambda row: row[1]):
            before = round((began - start) * scale)
            width = max(round((ended - began) * scale), 1)
            bar = (" " * before + "█" * width)[:_BAR].ljust(_BAR)
            lines.append(f"{part:<10}{bar}{(ended - began) * 1000:>7.0f} ms")
        return "\n".join([*lines, f"{'total':<10}{'':<{_BAR}}{(end - start) * 1000:>7.0f} ms"])


def _age_s() -> float:
    """Of this process: the kernel counts its start in hundredths of a second since boot."""
    fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
    started = int(fields.rpartition(")")[2].split()[19]) / 100
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started, 0.0)
