"""Our ends of pipes and terminals.

Nothing is read before somebody wants it and nothing is written before there is room for it, so whoever is
slow slows down the other side, and nothing piles up here.
"""

import asyncio
import errno
import os
from collections.abc import Callable
from typing import Final

CHUNK: Final = 32 * 1024
LAST_WORDS_S: Final = 1.0
"""How long a stream may be silent after its program has ended, before nobody listens any more: what the
program left behind may hold it open for ever."""


class End:
    def __init__(self, fd: int) -> None:
        """Takes over `fd`."""
        self.fd = fd
        os.set_blocking(fd, False)

    async def read(self) -> bytes:
        """What is there, as soon as there is something; nothing at the end."""
        while True:
            try:
                return os.read(self.fd, CHUNK)
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await _called_back(self.fd, loop.add_reader, loop.remove_reader)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return b""  # a terminal that nobody has open any more

    async def write(self, data: bytes) -> bool:
        """False if nobody reads any more."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self.fd, rest) :]
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await _called_back(self.fd, loop.add_writer, loop.remove_writer)
            except OSError as error:
                if error.errno not in (errno.EPIPE, errno.EIO):
                    raise
                return False
        return True

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


async def readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    await _called_back(fd, loop.add_reader, loop.remove_reader)


async def _called_back(
    fd: int, add: Callable[..., object], remove: Callable[[int], object]
) -> None:
    waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    add(fd, _settle, waiting)
    try:
        await waiting
    finally:
        remove(fd)


def _settle(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
