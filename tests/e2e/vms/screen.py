"""Somebody who looks at a guest's screen: as a viewer does (RFB 3.8), and at a picture of it (PNG)."""

import socket
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

LIMIT_S = 60.0
_VERSION = b"RFB 003.008\n"
_NO_PASSWORD = 1
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 6: 4}
"""By the type of colour; one byte each."""


class Seen(NamedTuple):
    width: int
    height: int
    pixels: bytes
    """As they came: what they mean depends on who sent them."""

    @property
    def is_blank(self) -> bool:
        return not any(self.pixels)


def by_viewer(port: int) -> Seen:
    """The whole screen, once."""
    with (
        socket.create_connection(("127.0.0.1", port), LIMIT_S) as viewer,
        viewer.makefile("rb") as it,
    ):
        assert it.read(12) == _VERSION
        viewer.sendall(_VERSION)
        ways = it.read(it.read(1)[0])
        assert _NO_PASSWORD in ways, ways
        viewer.sendall(bytes([_NO_PASSWORD]))
        assert it.read(4) == bytes(4), "let in"
        viewer.sendall(b"\x01")  # others may look on
        width, height, depth, *_, name = struct.unpack(">HHB15xI", it.read(24))
        it.read(name)
        viewer.sendall(struct.pack(">BBHHHH", 3, 0, 0, 0, width, height))
        return Seen(width, height, b"".join(_rectangles(it, depth // 8)))


def _rectangles(it: BinaryIO, size: int) -> Iterator[bytes]:
    """Of one update, none of them compressed: nothing else was offered."""
    kind, count = struct.unpack(">BxH", it.read(4))
    assert kind == 0, kind
    for _ in range(count):
        _, _, width, height, encoding = struct.unpack(">HHHHi", it.read(12))
        assert encoding == 0, encoding
        yield it.read(width * height * size)


def of_picture(data: bytes) -> Seen:
    assert data.startswith(_SIGNATURE), data[:16]
    chunks = list(_chunks(data[len(_SIGNATURE) :]))
    assert (chunks[0][0], chunks[-1][0]) == (b"IHDR", b"IEND")
    width, height, bits, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    pixels = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    assert bits == 8, bits
    assert len(pixels) == height * (1 + width * _CHANNELS[colour]), "each line says how it is kept"
    return Seen(width, height, pixels)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    while data:
        length, name = struct.unpack(">I4s", data[:8])
        body, (told,) = data[8 : 8 + length], struct.unpack(">I", data[8 + length : 12 + length])
        assert zlib.crc32(name + body) == told, name
        yield name, body
        data = data[12 + length :]
