"""Standard input and output without surprises for whom they are shared with.

A terminal is shared with the shell that started us, and with our own standard error. So it is never made
non-blocking: the kernel is asked first whether there is something to read or room to write.
"""

import asyncio
import os
import stat
from typing import Final

CHUNK: Final = 4096
"""As much as a pipe takes at once when it says that it takes something."""


class Input:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self) -> bytes:
        """What has come; nothing at its end."""
        await _ready(self._descriptor, to_write=False)
        try:
            return os.read(self._descriptor, CHUNK)
        except OSError:  # a terminal that is gone, as when its window was closed
            return b""


class Output:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            await _ready(self._descriptor, to_write=True)
            rest = rest[os.write(self._descriptor, rest[:CHUNK]) :]

    async def gone(self) -> None:
        """Until nobody reads it any longer, which only a pipe can tell."""
        if not stat.S_ISFIFO(os.fstat(self._descriptor).st_mode):
            await asyncio.Event().wait()
        await _ready(self._descriptor, to_write=False)  # there is nothing to read but its end


async def _ready(descriptor: int, *, to_write: bool) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def note() -> None:
        if not ready.done():
            ready.set_result(None)

    try:
        (loop.add_writer if to_write else loop.add_reader)(descriptor, note)
    except PermissionError:  # a plain file, which is always ready
        return
    try:
        await ready
    finally:
        (loop.remove_writer if to_write else loop.remove_reader)(descriptor)
