"""Material: tokens, certificates and keys, from wherever the configuration says.

Files are read again when they change, so that a rotated credential is used from the next request on,
without a restart. Whoever rotates them may do it in several steps: while a file is missing or empty,
what it held before still counts.
"""

import os
from pathlib import Path
from typing import Protocol

from kubevirt.base.errors import ConfigError


class Material(Protocol):
    """Some bytes, and where they come from, for messages."""

    @property
    def where(self) -> str: ...

    def read(self) -> bytes:
        """The bytes as they are now. ConfigError when there are none."""
        ...


class Inline:
    """Bytes that stand in the configuration itself."""

    def __init__(self, content: bytes, where: str) -> None:
        self._content = content
        self.where = where

    def read(self) -> bytes:
        return self._content

    def __repr__(self) -> str:
        return f"Inline({self.where!r})"


class File:
    """Bytes in a file that somebody may replace at any time."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        self._content = b""
        self._seen: tuple[int, ...] = ()
        self.where = f"{what} {path}"

    def read(self) -> bytes:
        try:
            # Taken before reading: a file that changes in between is read once more next time.
            found = _fingerprint(self._path)
            if found != self._seen:
                self._content = self._path.read_bytes() or self._content
                self._seen = found
        except OSError as error:
            if not self._content:
                raise ConfigError(
                    f"the {self.where} cannot be read: {error.strerror};"
                    " correct the path in the configuration or restore the file"
                ) from None
        if not self._content:
            raise ConfigError(f"the {self.where} is empty; write it anew or correct the path")
        return self._content

    def __repr__(self) -> str:
        return f"File({str(self._path)!r})"


def _fingerprint(path: Path) -> tuple[int, ...]:
    """Changes when the content does. Follows links: that is how a mounted Secret is replaced."""
    found = os.stat(path)  # noqa: PTH116  # a third of the cost of Path.stat, on every request
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
