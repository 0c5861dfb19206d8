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
        self._waiting: asyncio.Future[None] | None = None
        self._are_last_words = False
        os.set_blocking(fd, False)

    async def read(self) -> bytes:
        """What is there, as soon as there is something; nothing at the end."""
        while True:
            try:
                return os.read(self.fd, CHUNK)
            except BlockingIOError:
                if self._are_last_words and not await self._is_readable_soon():
                    return b""
                if not self._are_last_words:
                    await self._readable()
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return b""  # a terminal that nobody has open any more

    def expect_last_words(self) -> None:
        """The program has ended: what is there is read, and what else comes soon."""
        self._are_last_words = True
        if self._waiting:
            _settle(self._waiting)

    async def _is_readable_soon(self) -> bool:
        try:
            async with asyncio.timeout(LAST_WORDS_S):
                await self._readable()
        except TimeoutError:
            return False
        return True

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        await _called_back(self._waiting, self.fd, loop.add_reader, loop.remove_reader)

    async def write(self, data: bytes) -> bool:
        """False if nobody reads any more."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self.fd, rest) :]
            except BlockingIOError:
                await self._writable()
            except OSError as error:
                if error.errno not in (errno.EPIPE, errno.EIO):
                    raise
                return False
        return True

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        await _called_back(loop.create_future(), self.fd, loop.add_writer, loop.remove_writer)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


async def readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    await _called_back(loop.create_future(), fd, loop.add_reader, loop.remove_reader)


async def _called_back(
    waiting: asyncio.Future[None],
    fd: int,
    add: Callable[..., object],
    remove: Callable[[int], object],
) -> None:
    add(fd, _settle, waiting)
    try:
        await waiting
    finally:
        remove(fd)


def _settle(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
