"""A file that grows: the kernel tells (inotify), so nobody looks again and again."""

import ctypes
import os
from contextlib import suppress
from typing import Final

MODIFIED: Final = 0x2

_libc: Final = ctypes.CDLL(None, use_errno=True)


def watch(path: str) -> int:
    """A descriptor that becomes readable with each change; `heard` takes note of it."""
    fd: int = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if fd < 0 or _libc.inotify_add_watch(fd, os.fsencode(path), MODIFIED) < 0:
        number = ctypes.get_errno()
        if fd >= 0:
            os.close(fd)
        raise OSError(number, os.strerror(number), path)
    return fd


def heard(fd: int) -> None:
    with suppress(BlockingIOError):
        os.read(fd, 4096)
