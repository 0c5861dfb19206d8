"""The mouse of a guest, moved a little, so that a screen that sleeps wakes up.

libvirt has no call for that, so it is done as a viewer does it, in RFB 3.8, by QEMU's own socket. Whoever looks at the screen
meanwhile stays: this viewer says that it shares.
"""

import asyncio
import socket
import struct
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.components.handler.web.errors import Denied

VERSION: Final = b"RFB 003.008\n"
NO_SECRET: Final = 1
"""The kind of security that QEMU has on a socket which only its own user can open."""
SHARED: Final = b"\x01"
RAW: Final = 0
STEP: Final = 16
"""Pixels."""
LIMIT_S: Final = 5.0


async def nudge(line: socket.socket, clock: Clock) -> None:
    """There and back. Returns when QEMU has taken it; what the guest makes of it is its own affair."""
    try:
        async with clock.timeout(LIMIT_S):
            width, height = await _greeted(line)
            await _moved(line, width // 2, height // 2)
    except (OSError, TimeoutError):
        raise Denied(503, "the guest's screen does not take the mouse") from None


async def _greeted(line: socket.socket) -> tuple[int, int]:
    """The size of the screen."""
    loop = asyncio.get_running_loop()
    await _read(line, len(VERSION))
    await loop.sock_sendall(line, VERSION)
    offered = await _read(line, (await _read(line, 1))[0])
    if NO_SECRET not in offered:
        raise Denied(500, "the guest's screen asks for a password, and there is none")
    await loop.sock_sendall(line, bytes((NO_SECRET,)))
    if any(await _read(line, 4)):
        raise Denied(503, "the guest's screen lets nobody in")
    await loop.sock_sendall(line, SHARED)
    width, height = struct.unpack(">HH", await _read(line, 4))
    pixels_and_length = await _read(line, 20)
    await _read(line, min(int.from_bytes(pixels_and_length[-4:], "big"), 1024))  # its name
    return width, height


async def _moved(line: socket.socket, x: int, y: int) -> None:
    """A mouse that knows no places, only steps, moves from the second on."""
    loop = asyncio.get_running_loop()
    # Only who says what pictures it takes is asked what kind of mouse the guest has.
    await loop.sock_sendall(line, struct.pack(">BBHi", 2, 0, 1, RAW))
    steps = (x, x + STEP, x)
    await loop.sock_sendall(line, b"".join(struct.pack(">BBHH", 5, 0, each, y) for each in steps))
    # It is answered after what came before it was done; a line that is cut at once is not read to its end.
    await loop.sock_sendall(line, struct.pack(">BBHHHH", 3, 0, 0, 0, 1, 1))
    await _read(line, 1)


async def _read(line: socket.socket, count: int) -> bytes:
    loop = asyncio.get_running_loop()
    found = b""
    while len(found) < count:
        more = await loop.sock_recv(line, count - len(found))
        if not more:
            raise ConnectionResetError
        found += more
    return found
