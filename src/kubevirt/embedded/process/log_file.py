"""The log of the process: one file, and a few older pieces of it.

Where nobody looks at a terminal, standard output and error are the file itself, so that nothing is lost,
whoever writes: Python's last words, a library in C. When it is cut, both move on to the new piece.
"""

import io
import os
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 16 << 20
PIECES: Final = 3
_STDOUT: Final = 1
_STDERR: Final = 2


class LogFile(io.TextIOBase):
    """For `base.log.configure`. Called from any thread that logs, under the log's own lock."""

    def __init__(
        self, path: Path, *, takes_output: bool = True, most_bytes: int = MOST_BYTES
    ) -> None:
        """`takes_output` is whether standard output and error become the file."""
        self._path = path
        self._takes_output = takes_output
        self._most = most_bytes
        self._fd = -1
        self._bytes = self._open()

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(self._path, flags, 0o640)
        if self._takes_output:
            os.dup2(fd, _STDOUT)
            os.dup2(fd, _STDERR)
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = fd
        return os.fstat(fd).st_size

    def write(self, text: str) -> int:
        data = text.encode(errors="replace")
        if self._bytes and self._bytes + len(data) > self._most:
            self._cut()
        self._bytes += os.write(self._fd, data)
        return len(text)

    def _cut(self) -> None:
        for number in range(PIECES - 1, 0, -1):
            older = self._piece(number)
            if older.exists():
                older.rename(self._piece(number + 1))
        self._path.rename(self._piece(1))
        self._bytes = self._open()

    def _piece(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def isatty(self) -> bool:
        return False

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        super().close()
