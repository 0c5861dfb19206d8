"""A terminal of which the test has the other end: it types, and reads what is shown."""

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

LIMIT_S = 60.0


class Terminal:
    def __init__(self, own: int, others: int) -> None:
        self._own = own
        self.others = others
        """The end that the program has."""
        self.shown = b""

    def type(self, text: bytes) -> None:
        os.write(self._own, text)

    def until(self, text: bytes) -> None:
        """Reads until this is shown."""
        end = time.monotonic() + LIMIT_S
        while text not in self.shown:
            assert time.monotonic() < end, f"{text!r} is not in {self.shown!r}"
            self._read(1.0)

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self._own], [], [], seconds)
        if ready:
            with suppress(OSError):  # nobody has the other end any longer
                self.shown += os.read(self._own, 4096)

    def settings(self) -> list[Any]:
        return termios.tcgetattr(self.others)

    @property
    def is_raw(self) -> bool:
        return not self.settings()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)


@contextmanager
def opened() -> Iterator[Terminal]:
    own, others = pty.openpty()
    try:
        yield Terminal(own, others)
    finally:
        os.close(own)
        os.close(others)


def ended(program: "subprocess.Popen[bytes]") -> int:
    """Its exit code; a program that does not end is ended."""
    try:
        return program.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
        raise
