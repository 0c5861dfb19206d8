"""Removes a directory with all it holds, however deep and full somebody made it.

What holds a file open for each level, or calls itself for each, ends at a thousand levels, and a container
makes those with one command. So levels are taken away from the top: a directory in the directory that goes
away moves up until it is empty. No link is followed on the way.
"""

import errno
import os
import stat
from collections.abc import Iterator
from itertools import islice
from typing import Final

_AT_ONCE: Final = 1000
"""Names that are held in memory: there may be millions."""


def remove_tree(folder: int, name: str) -> None:
    """`folder` is the open directory that holds it."""
    top = _open(folder, name)
    try:
        for each in _names(top):
            _remove(top, each)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=folder)


def _remove(top: int, name: str) -> None:
    """An entry of `top`, which takes in what is too deep in it."""
    if _is_removed(top, name):
        return
    inner = _open(top, name)
    try:
        for each in _names(inner):
            if not _is_removed(inner, each):
                os.rename(each, f".{os.urandom(8).hex()}", src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def _is_removed(folder: int, name: str) -> bool:
    """Whatever it is, but for a directory that holds something."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=folder)
        return True
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _names(folder: int) -> Iterator[str]:
    """Until there are none: who takes one makes it go away."""
    while True:
        with os.scandir(folder) as entries:
            names = [each.name for each in islice(entries, _AT_ONCE)]
        if not names:
            return
        yield from names


def _open(folder: int, name: str) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, dir_fd=folder)
