"""Files that appear and grow: the kernel tells, so nobody looks again and again."""

import ctypes
import os
from contextlib import suppress
from typing import Final

MODIFIED: Final = 0x2
APPEARS: Final = 0x80 | 0x100  # moved to, created

_libc: Final = ctypes.CDLL(None, use_errno=True)


def watch(path: str | os.PathLike[str], kinds: int) -> int:
    """A descriptor that becomes readable with each change of a file or folder; see `heard`."""
    fd: int = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if fd < 0 or _libc.inotify_add_watch(fd, os.fsencode(path), kinds) < 0:
        number = ctypes.get_errno()
        if fd >= 0:
            os.close(fd)
        raise OSError(number, os.strerror(number), os.fspath(path))
    return fd


def heard(fd: int) -> None:
    """Takes note of the changes so far: the descriptor waits for the next."""
    with suppress(BlockingIOError):
        os.read(fd, 4096)
