"""The bytes of a layer: decompressed and hashed as they pass, and stopped when they are too many."""

import hashlib
import io
import threading
import zlib
from typing import Final, Protocol

from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.limits import UnpackLimits

GZIP: Final = b"\x1f\x8b"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
_CHUNK: Final = 256 << 10


class Abandoned(Exception):  # noqa: N818  # nobody waits any longer: not an error
    """Unpacking was given up by whoever asked for it."""


class Budget:
    """What is left of the limits, over all layers of an image."""

    def __init__(self, name: str, limits: UnpackLimits, stop: threading.Event) -> None:
        self.name = name
        self.limits = limits
        self._stop = stop
        self._entries = 0
        self._packed = 0
        self._unpacked = 0
        self._written = 0

    def packed(self, size: int) -> None:
        self._packed += size
        if self._stop.is_set():
            raise Abandoned

    def unpacked(self, size: int) -> None:
        """Bytes that came out of the decompression; they may still be headers."""
        self._unpacked += size
        free = self.limits.unpacked_freely
        if self._unpacked > free and self._unpacked > self._packed * self.limits.ratio:
            raise ContainerImageError(
                f"image {self.name} is refused: it unpacks to more than {self.limits.ratio} times "
                f"its size"
            )

    def file(self, size: int) -> None:
        """A file of this size, holes included, is about to be written."""
        self._written += size
        if self._written > self.limits.unpacked_bytes:
            raise ContainerImageError(
                f"image {self.name} is refused: its files have more than "
                f"{self.limits.unpacked_bytes} bytes"
            )

    def entry(self) -> None:
        self._entries += 1
        if self._entries > self.limits.entries:
            raise ContainerImageError(
                f"image {self.name} is refused: it has more than {self.limits.entries} entries"
            )


class Bytes(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Hashed:
    """Reads a blob and knows at its end whether it is the one that was asked for."""

    def __init__(self, file: io.BufferedIOBase, budget: Budget) -> None:
        self._file = file
        self._budget = budget
        self._hash = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        self._budget.packed(len(data))
        return data

    def check(self, digest: str) -> None:
        """Reads what is left, too."""
        while self.read(_CHUNK):
            pass
        if digest != f"sha256:{self._hash.hexdigest()}":
            raise ContainerImageError(
                f"image {self._budget.name} is damaged: a layer does not match its digest {digest}"
            )


class Plain:
    """A layer that is not compressed."""

    def __init__(self, head: bytes, file: Bytes, budget: Budget) -> None:
        self._head = head
        self._file = file
        self._budget = budget

    def read(self, size: int, /) -> bytes:
        data, self._head = self._head[:size], self._head[size:]
        data = data or self._file.read(size)
        self._budget.unpacked(len(data))
        return data


class Gunzipped:
    """A layer in gzip, of one member or many, decompressed no further than it is read."""

    def __init__(self, head: bytes, file: Bytes, budget: Budget) -> None:
        self._waiting = head
        self._file = file
        self._budget = budget
        self._member = zlib.decompressobj(wbits=31)

    def read(self, size: int, /) -> bytes:
        while size > 0:
            self._waiting = self._waiting or self._file.read(_CHUNK)
            if self._member.eof:
                if not self._waiting.strip(b"\0"):  # some pad the end with zeros
                    if not self._waiting:
                        return b""
                    self._waiting = b""
                    continue
                self._member = zlib.decompressobj(wbits=31)
            if not self._waiting:
                raise ContainerImageError(
                    f"image {self._budget.name} is damaged: a layer is cut short"
                )
            if data := self._some(size):
                self._budget.unpacked(len(data))
                return data
        return b""

    def _some(self, size: int) -> bytes:
        try:
            data = self._member.decompress(self._waiting, size)
        except zlib.error as error:
            raise ContainerImageError(
                f"image {self._budget.name} is damaged: a layer cannot be unpacked ({error})"
            ) from None
        self._waiting = self._member.unused_data or self._member.unconsumed_tail
        return data


def uncompressed(blob: Hashed, budget: Budget) -> Bytes:
    """By its first bytes, since media types are not always true. zstd was unpacked before."""
    head = blob.read(len(ZSTD))
    return (Gunzipped if head.startswith(GZIP) else Plain)(head, blob, budget)
