"""Tar files read once, forward, in bounded steps, whatever they claim.

Python's own reader parses the headers, in all their dialects. Left alone it would take a header of
any size into memory and follow offsets backwards, for ever if they say so. It is given a file here
that does neither.
"""

import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from kubevirt.base.files import Root
from kubevirt.host.oci.errors import ContainerImageError, shown

STEP: Final = 1 << 20
"""The most bytes that are held at once."""
HEADER_LIMIT: Final = 32 << 10
"""Bytes of one extended header: a name and some attributes take a few hundred."""
HEADERS_LIMIT: Final = 4 << 20
"""Bytes of all headers of one entry: the map of a sparse file can be long."""
ENTRY_LIMIT: Final = 200_000


class BadTarError(Exception):
    """Not a tar file, or a hostile one. Says it as the end of a sentence about the file."""


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Forward(io.RawIOBase):
    """What `tarfile` reads headers from, and we read contents from. It only goes forward."""

    def __init__(self, file: Readable, *, seekable: io.FileIO | None = None) -> None:
        """`seekable` is `file` itself, if passing over a content need not read it."""
        super().__init__()
        self._file = file
        self._seekable = seekable
        self._position = 0
        self._budget = HEADERS_LIMIT

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence != os.SEEK_SET or offset < self._position:
            raise BadTarError("leads backwards")
        if self._seekable:
            self._position = self._seekable.seek(offset)
        while self._position < offset and self._take(min(offset - self._position, STEP)):
            pass
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        """Of a header."""
        self._budget -= size
        if not 0 <= size <= HEADER_LIMIT or self._budget < 0:
            raise BadTarError("has headers that are longer than any honest one")
        data = bytearray()
        while len(data) < size and (chunk := self._take(size - len(data))):
            data += chunk
        return bytes(data)

    def next_entry(self) -> None:
        self._budget = HEADERS_LIMIT

    def content(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes, in steps."""
        while size:
            chunk = self._take(min(size, STEP))
            if not chunk:
                raise BadTarError("ends in the middle of a file")
            size -= len(chunk)
            yield chunk

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        self._position += len(data)
        return data


def entries(forward: Forward) -> Iterator[tarfile.TarInfo]:
    """Each entry once, in order; `forward` stands at its content."""
    try:
        archive = tarfile.TarFile(fileobj=forward, mode="r")
        for _ in range(ENTRY_LIMIT):
            entry = archive.next()
            if entry is None:
                return
            vars(archive)["members"] = []  # it would keep them all
            yield entry
            forward.next_entry()
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise BadTarError(f"is no whole tar file ({error})") from None
    raise BadTarError(f"has more than {ENTRY_LIMIT} entries")


@dataclass(frozen=True, slots=True)
class Member:
    """Where a file lies in an archive that is not compressed."""

    offset: int
    size: int


def members_of(path: Path) -> dict[str, Member]:
    """The plain files of an archive by name. Nothing is unpacked, links are left out."""
    try:
        with Root.open(path.parent) as folder, folder.open_file(path.name) as file:
            found = {
                entry.name.removeprefix("./"): Member(entry.offset_data, entry.size)
                for entry in entries(Forward(file, seekable=file))
                if entry.isreg() and not entry.issparse()
            }
            size = os.fstat(file.fileno()).st_size
    except (FileNotFoundError, NotADirectoryError):
        raise ContainerImageError(f"there is no image archive at {path}") from None
    except BadTarError as error:
        raise ContainerImageError(f"the image archive {path} {error}") from None
    for name, member in found.items():
        if member.offset + member.size > size:
            raise ContainerImageError(
                f"the image archive {path} is cut short: {shown(name)} ends after the file does"
            )
    return found
