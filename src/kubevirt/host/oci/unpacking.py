"""The one place where the files of an image reach the disk.

Layers are laid over each other as their order says. What is written are folders and plain files,
nothing else: symbolic links, devices and pipes are left out, so no path can lead astray, for us or
for who comes later. A hard link must lead to a file that this image has brought. Owners and modes
of the image mean nothing here: all is readable, nothing can be run or written to.
"""

import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from typing import Final, cast

from kubevirt.base.files import Root
from kubevirt.host.oci.errors import ContainerImageError, shown
from kubevirt.host.oci.layers import Budget, Bytes
from kubevirt.host.oci.tar import BadTarError, Forward, entries

WHITEOUT: Final = ".wh."
OPAQUE: Final = ".wh..wh..opq"

_FILE_MODE: Final = 0o444
_FOLDER_MODE: Final = 0o755
_HOLE: Final = 64 << 10
"""Zeros in blocks of this size become holes."""
_ZEROS: Final = bytes(_HOLE)
_NAME_LIMIT: Final = 255


class LayerUnpacker:
    """Lays one layer over those that are in the folder already."""

    def __init__(self, root: Root, budget: Budget) -> None:
        self._root = root
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
        if not path:
            return  # the root itself
        folder, _, name = path.rpartition("/")
        if name == OPAQUE:
            self._hide_below(folder)
        elif name.startswith(WHITEOUT):
            hidden = sound_path(f"{folder}/{name.removeprefix(WHITEOUT)}", self._budget)
            if hidden not in self._brought:
                self._remove(hidden)
        elif entry.isdir():
            self._make_folder(path)
        elif entry.islnk():
            self._make_place(folder, path)
            self._link(sound_path(entry.linkname, self._budget), path)
        else:
            # What is no file leaves its name free, also of what an older layer had there.
            self._make_place(folder, path)
            if entry.isreg():
                self._write(entry, forward, path)

    def _make_folder(self, path: str) -> None:
        """A folder stays as it is; a file in its place, or in that of a folder above, gives way."""
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            above = "/".join(parts[:depth])
            if self._is_file(above):
                self._root.unlink(above)
            self._root.mkdir(above, _FOLDER_MODE, exist_ok=True)
            self._brought.add(above)

    def _make_place(self, folder: str, path: str) -> None:
        """Room for a new file: the folders above it, and nothing by its name."""
        if folder:
            self._make_folder(folder)
        self._remove(path)
        self._brought.add(path)

    def _write(self, entry: tarfile.TarInfo, forward: Forward, path: str) -> None:
        self._budget.file(entry.size)
        with self._root.create(path, _FILE_MODE) as file:
            write(file, entry, forward)

    def _link(self, source: str, path: str) -> None:
        if not source or not self._is_file(source):
            raise ContainerImageError(
                f"image {self._budget.name} is refused: {shown(path)} is a link to "
                f"{shown(source)}, which is no file of the image"
            )
        # The descriptor is what is linked, under a name that is resolved now: nothing is followed.
        with self._root.open_file(source) as file, self._root.bindable(path) as there:
            here = f"/proc/self/fd/{file.fileno()}"
            # Python asks the kernel to see through its own link only when given a folder.
            os.link(here, there, src_dir_fd=file.fileno(), follow_symlinks=True)

    def _hide_below(self, folder: str) -> None:
        if folder and (not self._root.exists(folder) or self._is_file(folder)):
            return
        for name in self._names(folder):
            path = f"{folder}/{name}" if folder else name
            if path not in self._brought:
                self._remove(path)

    def _names(self, folder: str) -> Iterable[str]:
        return self._root.listdir(folder or ".", limit=self._budget.limits.entries)

    def _remove(self, path: str) -> None:
        if not path or not self._root.exists(path):
            return
        if self._is_file(path):
            self._root.unlink(path)
        else:
            self._root.remove_tree(path)

    def _is_file(self, path: str) -> bool:
        try:
            return stat.S_ISREG(self._root.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False


def sound_path(name: str, budget: Budget) -> str:
    """A name from an archive as a path below the root; empty for the root itself."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    is_sound = (
        ".." not in parts
        and "\0" not in name
        and len(parts) <= budget.limits.depth + 1
        and all(len(os.fsencode(part)) <= _NAME_LIMIT for part in parts)
    )
    if not is_sound:
        raise ContainerImageError(
            f"image {budget.name} is refused: it has a file {shown(name)}, which leads out of it or "
            f"is too deep"
        )
    return "/".join(parts)


def write(file: io.FileIO, entry: tarfile.TarInfo, forward: Forward) -> None:
    """The content of an entry, into a new file."""
    for offset, size in _pieces(entry):
        _write_piece(file, offset, forward.content(size))
    file.truncate(entry.size)


def _pieces(entry: tarfile.TarInfo) -> Iterator[tuple[int, int]]:
    """Where the data of a file goes. A sparse file of tar's own lists it and brings no holes."""
    pieces = cast("Iterable[tuple[int, int]] | None", entry.sparse)
    if pieces is None:
        yield 0, entry.size
        return
    end = 0
    for offset, size in pieces:
        if not size:
            continue  # some maps are padded, all end with the end of the file
        if offset < end or size < 0 or offset + size > entry.size:
            raise BadTarError("has a sparse file whose map is wrong")
        end = offset + size
        yield offset, size


def _write_piece(file: io.FileIO, offset: int, chunks: Iterable[bytes]) -> None:
    """Writes what is not zero, in blocks; the file is new, so what is skipped is a hole."""
    for chunk in chunks:
        for start in range(0, len(chunk), _HOLE):
            block = chunk[start : start + _HOLE]
            if block != _ZEROS[: len(block)]:
                file.seek(offset + start)
                rest = memoryview(block)
                while rest:
                    rest = rest[file.write(rest) :]
        offset += len(chunk)
