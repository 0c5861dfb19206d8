"""How large the disk of a claim should be that has grown since its disk was made.

As large as the claim says, or as its file system can hold where that is less. A disk never shrinks: what its guest
wrote would be cut off.
"""

import os
import stat
from pathlib import Path
from typing import Final

SECTOR: Final = 512
_STEP: Final = 1 << 20
"""What a file system has left changes a little all the time, and that is no growth."""


def grown_bytes(disk: Path, claim_bytes: int) -> int:
    """Of the file that is a claim's disk. What it takes already counts as room for it."""
    found = disk.lstat()
    if not stat.S_ISREG(found.st_mode):  # what a link in its place leads to is not the claim's
        return found.st_size
    usage = os.statvfs(disk)
    room = found.st_blocks * SECTOR + usage.f_bavail * usage.f_frsize
    wanted = min(claim_bytes // SECTOR * SECTOR, room // _STEP * _STEP)
    return max(found.st_size, wanted)


def grow(disk: Path, claim_bytes: int) -> None:
    """Before its guest starts. A claim's disk is raw, so its length is its size."""
    size = grown_bytes(disk, claim_bytes)
    if size > disk.lstat().st_size and os.access(disk, os.W_OK):
        os.truncate(disk, size)
