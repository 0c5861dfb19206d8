"""Where images come from, as the cache sees it."""

import io
from collections.abc import Callable
from typing import Protocol

from kubevirt.host.oci.manifest import Descriptor, Platform, Resolved

Progress = Callable[[int, int], None]
"""Gets the bytes so far and the bytes in all."""


def no_progress(done: int, total: int) -> None:
    del done, total


class Blob(Protocol):
    """The bytes of a blob, not yet compared with its digest."""

    def open(self) -> io.BufferedIOBase: ...


class Source(Protocol):
    async def resolve(self, name: str, wanted: Platform) -> Resolved:
        """Finds the image; its blobs may still be far away."""
        ...

    async def fetch(self, layer: Descriptor, image: Resolved, progress: Progress) -> Blob:
        """Brings a layer within reach."""
        ...

    def release(self, image: Resolved) -> None:
        """The image is unpacked: what was fetched for it may go."""
        ...


class Slice(io.BufferedIOBase):
    """A part of a file, read once from its beginning to its end."""

    def __init__(self, file: io.FileIO, offset: int, size: int) -> None:
        self._file = file
        self._left = size
        file.seek(offset)

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        data = self._file.read(wanted) or b""
        self._left -= len(data)
        return data

    def close(self) -> None:
        self._file.close()
        super().close()
