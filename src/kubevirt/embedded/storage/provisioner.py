"""Folders and files that volumes are made of, one for each, under the name of the volume.

A volume of mode Filesystem is a folder, one of mode Block a sparse file of its size: neither takes room before
something is written. What a folder may hold is not limited; the claim's size is a promise, not a wall.

Data goes in two steps: out of its place, which is done or not, then away. What a crash leaves of the second is
finished at the next start.
"""

import asyncio
import errno
import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Final

from kubevirt.base.errors import Retry, UnsafePath
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger

log = get_logger(__name__)

BLOCK: Final = "Block"
_FOR_ALL: Final = 0o777
GOING: Final = ".going-"
_WHOLE: Final = 512
"""Bytes of a sector: a disk has whole ones."""


class Provisioner:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, volume: str) -> Path:
        return self.folder / _checked(volume)

    def has(self, volume: str) -> bool:
        return os.path.lexists(self.path(volume))

    def make(self, volume: str, mode: str, size_bytes: int) -> Path:
        """Any number of times. What is there stays as it is."""
        path = self.path(volume)
        try:
            self._make(path.name, mode, size_bytes)
        except OSError as error:
            raise self._explained(error, size_bytes) from None
        return path

    def grow(self, volume: str, size_bytes: int) -> Path:
        """A file; a folder is as large as its disk. Never smaller than it was."""
        path = self.path(volume)
        try:
            with Root.open(self.folder) as root:
                if stat.S_ISREG(root.stat(path.name).st_mode):
                    _enlarge(root, path.name, size_bytes)
        except OSError as error:
            raise self._explained(error, size_bytes) from None
        return path

    async def remove(self, volume: str) -> None:
        """What is not there is gone already."""
        draft = f"{GOING}{os.urandom(8).hex()}"
        try:
            self.path(volume).rename(self.folder / draft)
        except FileNotFoundError:
            return
        await asyncio.to_thread(self._remove, draft)
        log.info("volume removed", volume=volume)

    async def clear_away(self, known: Collection[str]) -> None:
        """What was on its way out when we ended, and what was made for a volume that never came to be.
        Of what is not known, only that goes which holds nothing: a volume may be gone and its data kept.
        """
        await asyncio.to_thread(self._clear_away, known)

    def _clear_away(self, known: Collection[str]) -> None:
        for each in self.folder.iterdir():
            if each.name.startswith(GOING):
                self._remove(each.name)
            elif each.name not in known and _is_empty(each):
                self._remove(each.name)
                log.info("empty volume removed", volume=each.name)

    def _make(self, name: str, mode: str, size_bytes: int) -> None:
        with Root.open(self.folder) as root:
            if mode == BLOCK:
                if not root.exists(name):
                    root.create(name).close()
                _enlarge(root, name, size_bytes)
            else:
                root.mkdir(name, _FOR_ALL, exist_ok=True)

    def _remove(self, name: str) -> None:
        with Root.open(self.folder) as root:
            if stat.S_ISDIR(root.stat(name).st_mode):
                root.remove_tree(name)
            else:
                root.unlink(name)

    def _explained(self, error: OSError, size_bytes: int) -> Retry:
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT:
                return Retry(f"the disk of {self.folder} is full; make room there")
            case errno.EFBIG:
                return Retry(
                    f"a file of {size_bytes} bytes is too large for the file system of {self.folder}; "
                    "ask for less"
                )
        return Retry(f"{self.folder}: {error.strerror}")


def _is_empty(path: Path) -> bool:
    if path.is_symlink():
        return False
    if path.is_dir():
        return not any(path.iterdir())
    return path.is_file() and path.stat().st_blocks == 0


def _enlarge(root: Root, name: str, size_bytes: int) -> None:
    size = -(-size_bytes // _WHOLE) * _WHOLE
    with root.open_file(name, os.O_RDWR) as file:
        if os.fstat(file.fileno()).st_size < size:
            file.truncate(size)


def _checked(volume: str) -> str:
    """Names of Kubernetes have no slashes; what begins with a dot is ours."""
    if not volume or "/" in volume or volume.startswith("."):
        raise UnsafePath(f"{volume!r} is no name of a volume")
    return volume
