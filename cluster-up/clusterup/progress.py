"""What a person sees while something takes its time.

On a terminal the running step rewrites its own line with the seconds it has taken; elsewhere each
step is one plain line when it begins, and one more every few seconds while it lasts.
"""

import asyncio
import contextlib
import shutil
import sys
import time
from collections.abc import AsyncIterator
from typing import TextIO

_TERMINAL_EVERY_S = 0.5
_PLAIN_EVERY_S = 10.0


class Step:
    """A running step; `detail` may be changed while it lasts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.detail = ""
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def __str__(self) -> str:
        return f"{self.text}: {self.detail}" if self.detail else self.text


class Progress:
    def __init__(self, prefix: str, out: TextIO | None = None) -> None:
        self._prefix = prefix
        self._out = out or sys.stderr
        self._is_terminal = self._out.isatty()

    def say(self, text: str) -> None:
        print(f"{self._prefix}: {text}", file=self._out, flush=True)

    @contextlib.asynccontextmanager
    async def step(self, text: str) -> AsyncIterator[Step]:
        """Show `text` while the body runs, and how long it took when it was long."""
        step = Step(text)
        if not self._is_terminal:
            self.say(text)
        ticker = asyncio.create_task(self._tick(step))
        try:
            yield step
        finally:
            ticker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ticker
            if self._is_terminal:
                self._rewrite(f"{text} ({step.seconds:.1f} s)")
                print(file=self._out, flush=True)

    async def _tick(self, step: Step) -> None:
        every_s = _TERMINAL_EVERY_S if self._is_terminal else _PLAIN_EVERY_S
        while True:
            if self._is_terminal:
                self._rewrite(f"{step} … {step.seconds:.0f} s")
            await asyncio.sleep(every_s)
            if not self._is_terminal:
                self.say(f"{step} (for {step.seconds:.0f} s)")

    def _rewrite(self, text: str) -> None:
        # A line that wraps could not be rewritten.
        line = f"{self._prefix}: {text}"[: shutil.get_terminal_size().columns - 1]
        print(f"\r\033[K{line}", end="", file=self._out, flush=True)
