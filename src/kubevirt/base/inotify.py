"""Files that appear and grow: the kernel tells, so nobody looks again and again."""

import ctypes
import os
import struct
from collections.abc import Iterator
from typing import Final

MODIFIED: Final = 0x2
APPEARS: Final = 0x80 | 0x100  # moved to, created
GOES: Final = 0x400  # the folder itself

OVERFLOWED: Final = -1
"""In place of a number: so much happened that the kernel did not keep it."""

_EVENT: Final = struct.Struct(
    "iIII"
)  # number, kinds, cookie, length of the name behind it: inotify(7)
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


def heard(fd: int) -> frozenset[int]:
    """Takes note of the changes so far, and says where they were: the descriptor waits for the next.

    That a watch ended is a change, too, and told under its number.
    """
    try:
        told = os.read(fd, 4096)
    except BlockingIOError:
        return frozenset()
    return frozenset(_numbers(told))


def _numbers(told: bytes) -> Iterator[int]:
    place = 0
    while place < len(told):
        number, _, _, name = _EVENT.unpack_from(told, place)
        yield number
        place += _EVENT.size + name
