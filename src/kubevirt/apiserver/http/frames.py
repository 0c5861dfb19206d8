"""Written events, kept for the next watcher: a change that a hundred watch is written once."""

from collections.abc import Hashable
from typing import Final

MOST_BYTES: Final = 4 << 20
"""Of all that are kept, whatever they are of."""


class Frames:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._frames: dict[Hashable, bytes] = {}

    def get(self, key: Hashable) -> bytes | None:
        return self._frames.get(key)

    def put(self, key: Hashable, frame: bytes) -> None:
        """The oldest make room."""
        self._frames[key] = frame
        self._bytes += len(frame)
        while self._bytes > self._most_bytes:
            oldest = next(iter(self._frames))
            self._bytes -= len(self._frames.pop(oldest))

    def clear(self) -> None:
        self._frames.clear()
        self._bytes = 0
