"""Disks that are made for a guest. Making one twice keeps the first: its guest has written to it.

A new disk gets its name only when it is whole, so a crash leaves none that is half made.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from kubevirt.base import commands
from kubevirt.host.qemu_img.image import Image
from kubevirt.host.qemu_img.program import (
    LIMITS,
    Format,
    ImageError,
    ImageLimits,
)

_SECTOR: Final = 512
_TABLES_BYTES: Final = 1 << 30
"""More than the tables of any empty qcow2: those of a disk of 64 TiB take one MiB."""


async def create_blank(
    path: str,
    size_bytes: int,
    image_format: Format = "qcow2",
    *,
    mode: int = 0o600,
    limits: ImageLimits = LIMITS,
) -> bool:
    """An empty disk that takes space only where it is written. False if there is one already."""
    _check_size(path, size_bytes, limits)
    return await _create(path, image_format, (), size_bytes, mode, limits)


async def create_overlay(
    path: str, below: Image, *, mode: int = 0o600, limits: ImageLimits = LIMITS
) -> bool:
    """A qcow2 file that takes the writes above an image that stays as it is; False if it is there.

    The image below was admitted, so its format and size are known: it is not opened again.
    """
    _check_size(path, below.virtual_bytes, limits)
    if not below.path.startswith("/"):
        raise ImageError(f"the disk {path} needs the whole path of its image, not {below.path!r}")
    behind = ("-u", "-b", below.path, "-F", below.format)
    return await _create(path, "qcow2", behind, below.virtual_bytes, mode, limits)


def _check_size(path: str, size_bytes: int, limits: ImageLimits) -> None:
    if not 0 < size_bytes <= limits.virtual_bytes:
        raise ImageError(
            f"the disk {path} cannot have {size_bytes} bytes; it may have 1 to "
            f"{limits.virtual_bytes}"
        )


async def _create(
    path: str,
    image_format: Format,
    options: tuple[str, ...],
    size_bytes: int,
    mode: int,
    limits: ImageLimits,
) -> bool:
    draft = _draft_of(path)
    if draft is None:
        return False
    size = -(-size_bytes // _SECTOR) * _SECTOR
    allowed = limits.for_program(
        file_bytes=size + _TABLES_BYTES if image_format == "raw" else _TABLES_BYTES
    )
    try:
        await commands.run(
            "qemu-img",
            "create",
            "-q",
            "-f",
            image_format,
            *options,
            draft,
            str(size),
            limits=allowed,
            timeout_s=limits.timeout_s,
        )
        draft.chmod(mode)
        return _put_in_place(draft, path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def _draft_of(path: str) -> Path | None:
    """Where to make a new disk, in the folder of its place; None if that place is taken."""
    if os.path.lexists(path):
        return None
    folder = Path(path).absolute().parent
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    return folder / f".{secrets.token_hex(8)}.tmp"


def _put_in_place(draft: Path, target: str) -> bool:
    """A hard link, unlike a rename, never takes the place of a disk that somebody else just made."""
    try:
        os.link(draft, target)
    except FileExistsError:
        return False
    return True
