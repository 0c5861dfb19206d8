"""What a program prints: bounded, whatever it prints.

The three ways to take it: gather it all (`Gathered`), line by line as it comes (`lines_of`), or
into a log (`LoggedLines`). `commands.py` connects them to a program.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from typing import Final

from kubevirt.base.errors import OutputTooLarge
from kubevirt.base.log import Logger

LINE_LIMIT: Final = 1 << 16
LINE_END: Final = re.compile(rb"[\r\n]+")
"""A carriage return ends a line too: that is how progress is printed."""

DRAIN_S: Final = 1.0
"""How long output may stay open after its program ended: a daemon that it left behind holds it."""


class Gathered(asyncio.Protocol):
    """What a program prints, up to a limit; one byte more and `too_much` is called."""

    def __init__(self, limit: int, *, too_much: Callable[[], None]) -> None:
        self.data = bytearray()
        self.ended = asyncio.Event()
        self._limit = limit
        self._too_much = too_much

    def data_received(self, data: bytes) -> None:
        self.data += data[: self._limit + 1 - len(self.data)]
        if len(self.data) > self._limit:
            self._too_much()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.ended.set()

    def check(self, program: str) -> None:
        if len(self.data) > self._limit:
            how = f"printed more than {self._limit} bytes and was ended"
            raise OutputTooLarge(program, how)


class LoggedLines(asyncio.Protocol):
    """Hands each line to a logger, which cuts long ones."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = LINE_END.split(self._rest + data)
        if len(self._rest) > LINE_LIMIT:
            lines, self._rest = [*lines, self._rest], b""
        self._write(lines)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._write([self._rest])

    def _write(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            if line:
                self._log.info("output", line=line.decode(errors="replace"))


async def lines_of(reader: asyncio.StreamReader, program: str) -> AsyncGenerator[str, None]:
    rest = b""
    while chunk := await reader.read(LINE_LIMIT):
        *lines, rest = LINE_END.split(rest + chunk)
        for line in lines:
            if line:
                yield line.decode(errors="replace")
        if len(rest) > LINE_LIMIT:
            raise OutputTooLarge(program, f"printed a line of more than {LINE_LIMIT} bytes")
    if rest:
        yield rest.decode(errors="replace")


async def drained(*outputs: Gathered) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            for output in outputs:
                await output.ended.wait()
