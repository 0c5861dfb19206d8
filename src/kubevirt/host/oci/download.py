"""A blob on its way: what has come stays, so that a broken connection costs only what is missing."""

import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kubevirt.host.oci.manifest import Descriptor

_STEP: Final = 1 << 20


class Download:
    """The file of a blob that is not whole yet. Its calls block: they belong in a thread."""

    def __init__(self, path: Path, blob: Descriptor) -> None:
        self._path = path
        self._blob = blob
        self._partial = path.with_name(f"{path.name}.partial")
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.fdopen(os.open(self._partial, flags, 0o600), "rb+", buffering=0)
        self._hash = hashlib.sha256()
        self.done = 0
        self.was_continued = False

    def __enter__(self) -> Self:
        return self

    def catch_up(self) -> None:
        """Reads what an earlier try has brought."""
        while chunk := self._file.read(_STEP):
            self._hash.update(chunk)
            self.done += len(chunk)
        if self.done > self._blob.size:
            self.restart()
        self.was_continued = self.done > 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def is_whole(self) -> bool:
        return self.done == self._blob.size

    def write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest:
            rest = rest[self._file.write(rest) :]
        self._hash.update(chunk)
        self.done += len(chunk)

    def restart(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.done = 0
        self.was_continued = False

    def finish(self) -> bool:
        """Gives the file its name, if it is the blob that was asked for; else it is thrown away."""
        if f"sha256:{self._hash.hexdigest()}" != self._blob.digest:
            self.restart()
            return False
        self._partial.rename(self._path)
        return True
