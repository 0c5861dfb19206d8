"""Mounts of this machine: made, listed and taken away again.

The kernel is asked directly: a program for each mount would cost a pod as much as its sandbox. Paths are
trusted here. What lies in a folder of others is mounted by an open descriptor, `/proc/self/fd/N`, which
cannot be swapped any more.
"""

import ctypes
import errno
import os
import re
from pathlib import Path
from typing import Final

from kubevirt.base.errors import Retry

_MS_NOSUID: Final = 2
_MS_NODEV: Final = 4
_MS_BIND: Final = 4096
_MS_REC: Final = 16384
_MNT_DETACH: Final = 2
_UMOUNT_NOFOLLOW: Final = 8
_TABLE: Final = Path("/proc/self/mountinfo")
_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")
_TRIES: Final = 3

_libc: Final = ctypes.CDLL(None, use_errno=True)


def bind(source: str, target: Path) -> None:
    """With what is mounted below the source."""
    _mount(source, target, "none", _MS_BIND | _MS_REC, "")


def memory(target: Path, mode: int, size_bytes: int | None = None) -> None:
    """A file system in memory; on a kernel that can, nothing of it is ever swapped out. Without a size
    it takes up to half of the machine's memory.
    """
    options = f"mode={mode:o}" if size_bytes is None else f"mode={mode:o},size={size_bytes}"
    try:
        _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV, f"{options},noswap")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV, options)


def unmount(target: Path) -> bool:
    """What is mounted there last. Whoever still uses it keeps it; False if nothing is."""
    if _libc.umount2(os.fsencode(target), _MNT_DETACH | _UMOUNT_NOFOLLOW) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOENT):
        return False
    raise OSError(number, os.strerror(number), str(target))


def unmount_below(folder: Path) -> int:
    """Everything that is mounted in a folder of our own, the innermost first. How many there were."""
    count = 0
    for _ in range(_TRIES):
        found = below(folder)
        if not found:
            return count
        for target in reversed(found):
            count += unmount(target)
    if left := below(folder):
        raise Retry(f"{left[-1]} cannot be unmounted")
    return count


def below(folder: Path) -> list[Path]:
    """Mount points in a folder, not the folder itself, in the order they were mounted."""
    # The kernel names the true path.
    return points(_TABLE.read_bytes(), Path(os.path.realpath(folder)))


def points(table: bytes, folder: Path) -> list[Path]:
    start = os.fsencode(folder) + b"/"
    found = (_unescaped(line.split(b" ")[4]) for line in table.splitlines())
    return [Path(os.fsdecode(each)) for each in found if each.startswith(start)]


def _unescaped(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), text)


def _mount(source: str, target: Path, kind: str, flags: int, data: str) -> None:
    done = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode(),
        ctypes.c_ulong(flags),
        data.encode(),
    )
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))
