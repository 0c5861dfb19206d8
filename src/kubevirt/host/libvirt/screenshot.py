"""Pictures of a guest's screen: from QEMU's PPM to the PNG that the API promises.

Written by hand because it is thirty lines: a PNG is the same pixels, compressed by zlib, in three
chunks. The guest decides what is on its screen and how large it is, so both are bounded.
"""

import re
import struct
import zlib
from typing import Final

from kubevirt.host.libvirt.errors import LibvirtError

SIDE_LIMIT: Final = 16384
IMAGE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of the PPM: 5K in each direction."""

_HEADER: Final = re.compile(rb"P6\s(?:#[^\n]{0,200}\n)*(\d{1,5})\s(\d{1,5})\s255\s")
_BYTES_PER_PIXEL: Final = 3
_COMPRESSION: Final = 1
"""A screen is mostly one colour; more effort saves little and costs the launcher a second."""


def png_from(ppm: bytes) -> bytes:
    """The same picture; an answer that is no picture is an error."""
    header = _HEADER.match(ppm)
    if header is None:
        raise LibvirtError("the guest's screen did not come as a picture; try again")
    width, height = int(header[1]), int(header[2])
    row = width * _BYTES_PER_PIXEL
    if not (0 < width <= SIDE_LIMIT and 0 < height <= SIDE_LIMIT) or len(ppm) > IMAGE_LIMIT:
        raise LibvirtError(f"the guest's screen of {width} by {height} is too large for a picture")
    if len(ppm) - header.end() < row * height:
        raise LibvirtError("the picture of the guest's screen is cut off; try again")
    return _png(width, height, memoryview(ppm)[header.end() :], row)


def _png(width: int, height: int, pixels: memoryview, row: int) -> bytes:
    squeeze = zlib.compressobj(_COMPRESSION)
    body = bytearray()
    for start in range(0, row * height, row):
        # Each row says first how it was filtered: not at all.
        body += squeeze.compress(b"\0")
        body += squeeze.compress(pixels[start : start + row])
    body += squeeze.flush()
    # Eight bits for each of red, green and blue; deflate, no filter, not interlaced.
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        (b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", head), _chunk(b"IDAT", body), _chunk(b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes | bytearray) -> bytes:
    return (
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))
    )
