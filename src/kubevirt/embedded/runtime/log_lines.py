"""What a reader is shown of a container's log: pure, bytes in and bytes out.

A log has lines in the form that Kubernetes' runtimes write (see keeper/log.h):

    2026-11-15T16:45:05.123456789Z stdout F the line

with P for a piece of a line that goes on, so pieces are put together again.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    tail: int | None = None
    """Only so many lines before the end."""
    since: datetime | None = None
    limit: int | None = None
    """Bytes that are shown at most."""
    has_times: bool = False
    is_followed: bool = False
    """Until the container ends."""
    stream: str = ""
    """stdout or stderr; empty for both."""


class Shown:
    def __init__(self, wanted: Wanted) -> None:
        self._stream = wanted.stream.encode()
        self._since = stamp(wanted.since) if wanted.since else b""
        self._has_times = wanted.has_times
        self._left = wanted.limit
        self._is_new_line = True

    @property
    def is_full(self) -> bool:
        """Nothing more will be shown."""
        return self._left is not None and self._left <= 0

    def of(self, lines: bytes) -> bytes:
        """Of whole lines of the log."""
        text = b"".join(self._parts(lines))
        if self._left is not None:
            text = text[: self._left]
            self._left -= len(text)
        return text

    def _parts(self, lines: bytes) -> Iterator[bytes]:
        for line in lines.split(b"\n"):
            at, _, rest = line.partition(b" ")
            stream, _, rest = rest.partition(b" ")
            tag, is_line, words = rest.partition(b" ")
            if not is_line or at < self._since or (self._stream and stream != self._stream):
                continue
            if self._has_times and self._is_new_line:
                yield at
                yield b" "
            yield words
            self._is_new_line = tag[:1] != b"P"
            if self._is_new_line:
                yield b"\n"


def is_piece(line: bytes) -> bool:
    """Whether a line of the log is a part of one that goes on."""
    return line.split(b" ", 3)[2:3] == [b"P"]


def stamp(time: datetime) -> bytes:
    """As times stand in a log: they are compared as they are written."""
    utc = time.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond:06}000Z".encode()
