"""What an image may cost."""

from typing import Final

import msgspec


class UnpackLimits(msgspec.Struct, frozen=True, kw_only=True):
    packed_bytes: int = 64 << 30
    """Of all layers as they are fetched."""
    unpacked_bytes: int = 256 << 30
    """Of all files, holes included: a raw disk says how large it is, not how full."""
    entries: int = 100_000
    """Files, folders and everything else in all layers."""
    depth: int = 32
    """Folders above a file."""
    ratio: int = 250
    """Unpacked bytes for each packed one. A disk that is mostly empty packs well, so the first
    `unpacked_freely` bytes are not counted.
    """
    unpacked_freely: int = 4 << 30
    timeout_s: float = 3600.0
    """Seconds for unpacking all layers."""


LIMITS: Final = UnpackLimits()
