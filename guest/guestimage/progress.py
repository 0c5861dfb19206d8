"""What a person sees while the build takes its time.

On a terminal the running step rewrites its own line; elsewhere a step is a line when it begins and
one more now and then while it lasts.
"""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TextIO

_TERMINAL_EVERY_S = 0.5
_PLAIN_EVERY_S = 20.0


class Step:
    """A running step that hears of its own progress."""

    def __init__(self, text: str, out: TextIO) -> None:
        self._text = text
        self._out = out
        self._is_terminal = out.isatty()
        self._began = self._shown = time.monotonic()
        self._print(text)

    def detail(self, text: str) -> None:
        """Tell where it stands; shown only as often as a reader can follow."""
        now = time.monotonic()
        if now - self._shown < (_TERMINAL_EVERY_S if self._is_terminal else _PLAIN_EVERY_S):
            return
        self._shown = now
        self._print(f"{self._text}: {text}, {now - self._began:.0f} s")

    def done(self) -> None:
        if self._is_terminal:
            self._print(f"{self._text} ({time.monotonic() - self._began:.1f} s)")
            self._out.write("\n")

    def _print(self, text: str) -> None:
        line = f"\r\033[Kguest-image: {text}" if self._is_terminal else f"guest-image: {text}\n"
        self._out.write(line)
        self._out.flush()


class Progress:
    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr

    def say(self, text: str) -> None:
        print(f"guest-image: {text}", file=self._out, flush=True)

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[Step]:
        step = Step(text, self._out)
        try:
            yield step
        finally:
            step.done()
