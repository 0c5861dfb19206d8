"""Layers in zstd, which Python 3.11 cannot read: the program of that name unpacks them first.

It writes a plain tar file, under limits of time, memory and size: a bomb ends at the size that the
image's limits allow. This costs the space of one layer while it is read, and no dependency.
"""

from pathlib import Path
from typing import Final

from kubevirt.base import commands
from kubevirt.base.errors import CommandFailed, CommandTimedOut
from kubevirt.host.oci.errors import CacheError, ContainerImageError
from kubevirt.host.oci.limits import UnpackLimits

_MEMORY_BYTES: Final = 512 << 20
"""Address space; zstd asks for a window of at most 128 MiB unless it is told otherwise."""


async def decompress(packed: Path, plain: Path, size: int, name: str, limits: UnpackLimits) -> int:
    """Unpacks a layer of `size` bytes, returns its new size, and removes it. Holes stay holes."""
    allowed = max(limits.unpacked_freely, size * limits.ratio)
    try:
        await commands.run(
            "zstd",
            "--decompress",
            "--quiet",
            "--rm",
            packed,
            "-o",
            plain,
            timeout_s=limits.timeout_s,
            limits=commands.Limits(
                cpu_s=int(limits.timeout_s),
                memory_bytes=_MEMORY_BYTES,
                file_bytes=min(allowed, limits.unpacked_bytes),
            ),
        )
    except CommandTimedOut:
        raise
    except CommandFailed as error:
        if b"No space left" in error.stderr:
            raise CacheError(
                f"image {name} cannot be unpacked in {plain.parent}: No space left on device"
            ) from None
        raise ContainerImageError(
            f"image {name} is refused: a layer cannot be unpacked ({error})"
        ) from None
    return _size_of(plain)


def _size_of(path: Path) -> int:
    return path.stat().st_size
