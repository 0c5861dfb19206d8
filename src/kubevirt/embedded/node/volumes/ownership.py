"""fsGroup: gives what is in a volume to a group, as a kubelet does.

Others may use the volume at the same time, so each file is opened without following a link and changed by
its descriptor. A volume of more levels than anybody needs is refused: each costs an open file.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kubevirt.base.errors import UserError

_OF_FILE: Final = 0o660
_OF_FOLDER: Final = 0o2770
_DEEPEST: Final = 128


def give(folder: Path, group: int, *, is_always: bool = True) -> None:
    """If not always: only if the folder itself is not the group's already."""
    found = folder.stat()
    is_given = found.st_gid == group and found.st_mode & _OF_FOLDER == _OF_FOLDER
    if is_given and not is_always:
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # The root of the volume comes last: it tells that all is done.
        _give_contents(fd, group, 1, str(folder))
        _give(fd, group)
    finally:
        os.close(fd)


def _give_contents(folder: int, group: int, depth: int, shown: str) -> None:
    if depth > _DEEPEST:
        raise UserError(f"{shown} has more than {_DEEPEST} levels of folders; remove some of them")
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError), _pinned(folder, entry.name) as fd:
                mode = os.fstat(fd).st_mode
                if stat.S_ISDIR(mode):
                    with _opened(fd) as below:
                        _give_contents(below, group, depth + 1, shown)
                if not stat.S_ISLNK(mode):
                    _give(fd, group)


def _give(fd: int, group: int) -> None:
    found = os.fstat(fd)
    added = _OF_FOLDER if stat.S_ISDIR(found.st_mode) else _OF_FILE
    itself = f"/proc/self/fd/{fd}"
    if found.st_gid != group:
        os.chown(itself, -1, group)
    if found.st_mode & added != added:
        Path(itself).chmod(stat.S_IMODE(found.st_mode) | added)


@contextmanager
def _pinned(folder: int, name: str) -> Iterator[int]:
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _opened(pinned: int) -> Iterator[int]:
    fd = os.open(f"/proc/self/fd/{pinned}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)
