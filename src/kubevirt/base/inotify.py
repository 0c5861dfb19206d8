"""Files that appear and grow: the kernel tells, so nobody looks again and again."""

import ctypes
import os
from contextlib import suppress
from typing import Final

MODIFIED: Final = 0x2
APPEARS: Final = 0x80 | 0x100  # moved to, created
GOES: Final = 0x400  # the folder itself

_libc: Final = ctypes.CDLL(None, use_errno=True)


def watch(path: str | os.PathLike[str], kinds: int) -> int:
    """A descriptor that becomes readable with each change of a file or folder; see `heard`."""
    fd = instance()
    try:
        add(fd, path, kinds)
    except OSError:
        os.close(fd)
        raise
    return fd


def instance() -> int:
    """A descriptor for several files and folders, of which a user may have few."""
    fd: int = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if fd < 0:
        raise _failed("inotify")
    return fd


def add(fd: int, path: str | os.PathLike[str], kinds: int) -> int:
    """The number under which changes are told: the same as before for what is watched already."""
    number: int = _libc.inotify_add_watch(fd, os.fsencode(path), kinds)
    if number < 0:
        raise _failed(os.fspath(path))
    return number


def remove(fd: int, number: int) -> None:
    """What is gone meanwhile is not watched any more either."""
    _libc.inotify_rm_watch(fd, number)


def _failed(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)


def heard(fd: int) -> None:
    """Takes note of the changes so far: the descriptor waits for the next."""
    with suppress(BlockingIOError):
        os.read(fd, 4096)
