"""The boot partition: FAT with SYSLINUX for a BIOS, and the kernel where an EFI firmware looks.

The kernel is an EFI program itself and has its command line built in, so one copy serves both.
"""

import os
from pathlib import Path

from guestimage import tools

_KERNEL = "::/EFI/BOOT/BOOTX64.EFI"
_CONFIG = b"DEFAULT guest\nLABEL guest\n  LINUX /EFI/BOOT/BOOTX64.EFI\n"
_SERIAL = "4b564d31"


def write(kernel: Path, path: Path, *, size_bytes: int, first_sector: int) -> None:
    """A partition that begins at `first_sector` of its disk, as its boot code must know."""
    path.unlink(missing_ok=True)
    tools.run(
        *("mkfs.fat", "--invariant", "-F", "12", "-s", "4", "-h", str(first_sector), "-r", "64"),
        *("-i", _SERIAL, "-n", "BOOT", "-C", path, str(size_bytes // 1024)),
    )
    config = path.with_suffix(".cfg")
    config.write_bytes(_CONFIG)
    tools.run("mmd", "-i", path, "::/EFI", "::/EFI/BOOT")
    _copy(config, "::/syslinux.cfg", path)
    _copy(kernel, _KERNEL, path)
    config.unlink()
    tools.run("syslinux", "--install", path)


def _copy(source: Path, target: str, partition: Path) -> None:
    os.utime(source, (tools.EPOCH, tools.EPOCH))
    tools.run("mcopy", "-m", "-i", partition, source, target)
