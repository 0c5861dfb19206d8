"""The files of an image as a root that programs run in: with links, owners, modes and rights.

It works in a process that sees nothing but this root (`root_process.py`), so every path is one of the image:
a link leads to where it would lead inside a container, and `/` is as far up as it goes. That is also how
honest images mean it, whose /lib is a link to usr/lib and whose next layer brings /lib/something.

What is left out, and what is refused: devices in /dev, which every container gets anew, are left out; a
device anywhere else is refused. Of the extended attributes only the rights of programs
(`security.capability`) are kept: the others are labels of a machine that is not this one, or mean something
to an overlay file system, and must not come from outside.
"""

import os
import shutil
import stat
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from kubevirt.host.oci.errors import ContainerImageError, shown
from kubevirt.host.oci.layers import Budget, Bytes
from kubevirt.host.oci.tar import BadTarError, Forward, entries
from kubevirt.host.oci.unpacking import OPAQUE, WHITEOUT, sound_path, write

_ROOT: Final = Path("/")
"""Of the image: this process sees no other."""
_CAPABILITY: Final = "security.capability"
_IN_HEADERS: Final = f"SCHILY.xattr.{_CAPABILITY}"
_CAPABILITY_LIMIT: Final = 64
_LARGEST_ID: Final = (1 << 32) - 2
_LATEST: Final = (1 << 34) - 1
"""Seconds: what the usual file systems can hold."""
_FOLDER_MODE: Final = 0o755
_MADE_ANEW: Final = ("dev", "proc", "sys")
"""What every container has of its own, mounted over the image's."""


class RootUnpacker:
    """Lays one layer over those that are in `/` already."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._brought = set[str]()
        """Paths of this layer: an opaque folder hides what lies below, never what came with it."""

    def unpack(self, layer: Bytes) -> None:
        forward = Forward(layer)
        try:
            for entry in entries(forward):
                self._budget.entry()
                self._add(entry, forward)
        except BadTarError as error:
            raise ContainerImageError(
                f"image {self._budget.name} is refused: a layer {error}"
            ) from None

    def _add(self, entry: tarfile.TarInfo, forward: Forward) -> None:
        path = sound_path(entry.name, self._budget)
        folder, _, name = path.rpartition("/")
        try:
            if name == OPAQUE:
                self._hide_below(folder)
            elif name.startswith(WHITEOUT):
                self._hide(folder, name.removeprefix(WHITEOUT))
            elif entry.isdir():
                self._make_folder(path, entry)
            elif path:
                self._make(path, folder, entry, forward)
        except (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise self._refused(entry, f"cannot be there ({error.strerror})") from None

    def _make(self, path: str, folder: str, entry: tarfile.TarInfo, forward: Forward) -> None:
        place = _ROOT / path
        (_ROOT / folder).mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
        _remove(place)
        self._brought.add(path)
        if entry.islnk():
            self._link(entry, place)
        elif entry.issym():
            place.symlink_to(entry.linkname)
            self._own(entry, place)
        elif entry.isreg():
            self._write(entry, forward, place)
        elif entry.isfifo():
            os.mkfifo(place)
            self._own(entry, place)
        elif not (entry.isdev() and path.startswith("dev/")):
            raise self._refused(entry, "is a device, or something that no image needs")

    def _make_folder(self, path: str, entry: tarfile.TarInfo) -> None:
        place = _ROOT / path
        if not _is_folder(place):
            place.parent.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
            _remove(place)
            place.mkdir()
        self._brought.add(path)
        self._own(entry, place)

    def _link(self, entry: tarfile.TarInfo, place: Path) -> None:
        source = _ROOT / sound_path(entry.linkname, self._budget)
        if _is_folder(source):
            raise self._refused(entry, f"is one more name of {shown(source)}, which is a folder")
        os.link(source, place, follow_symlinks=False)

    def _write(self, entry: tarfile.TarInfo, forward: Forward, place: Path) -> None:
        self._budget.file(entry.size)
        with place.open("xb", buffering=0) as file:
            write(file, entry, forward)
        self._own(entry, place)
        if (rights := entry.pax_headers.get(_IN_HEADERS)) and len(rights) <= _CAPABILITY_LIMIT:
            with suppress(OSError):  # a file system without them, or what is none
                os.setxattr(place, _CAPABILITY, os.fsencode(rights))
        when = min(max(int(entry.mtime), 0), _LATEST)
        os.utime(place, (when, when))

    def _own(self, entry: tarfile.TarInfo, place: Path) -> None:
        if not (0 <= entry.uid <= _LARGEST_ID and 0 <= entry.gid <= _LARGEST_ID):
            raise self._refused(entry, f"belongs to {entry.uid}:{entry.gid}, who cannot be")
        os.chown(place, entry.uid, entry.gid, follow_symlinks=False)
        if not entry.issym():
            place.chmod(entry.mode & 0o7777)  # a change of owner has taken setuid away

    def _hide(self, folder: str, name: str) -> None:
        path = sound_path(f"{folder}/{name}", self._budget)
        if name and path != folder and path not in self._brought:
            _remove(_ROOT / path)

    def _hide_below(self, folder: str) -> None:
        if not _is_folder(_ROOT / folder):
            return
        for place in list((_ROOT / folder).iterdir()):
            if str(place.relative_to(_ROOT)) not in self._brought:
                _remove(place)

    def _refused(self, entry: tarfile.TarInfo, why: str) -> ContainerImageError:
        return ContainerImageError(
            f"image {self._budget.name} is refused: its {shown(entry.name)} {why}"
        )


def check_places(budget: Budget) -> None:
    """A container's own /dev is mounted by a program that sees the machine: no link may lead it there."""
    for name in _MADE_ANEW:
        place = _ROOT / name
        if (place.is_symlink() or place.exists()) and not _is_folder(place):
            raise ContainerImageError(f"image {budget.name} is refused: its /{name} is no folder")


def _is_folder(place: Path) -> bool:
    try:
        return stat.S_ISDIR(place.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _remove(place: Path) -> None:
    if _is_folder(place):
        shutil.rmtree(place)
    else:
        with suppress(FileNotFoundError, NotADirectoryError):
            place.unlink()
