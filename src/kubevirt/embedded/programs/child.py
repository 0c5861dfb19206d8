"""A program as a process of its own, which ends with the home's process, however that ends.

The kernel sees to that (`setpriv --pdeathsig`): a home that comes back after `kill -9` starts its programs anew, and has none
of them twice. One that was not the program yet at that moment is found by `sighted.py`. What a program says goes to a file of its own, which is cut as the home's is.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.embedded.process.log_file import LogFile

GRACE_S: Final = 10.0
LAST_WORDS_S: Final = 1.0
_LONGEST: Final = 64 << 10
"""Bytes of a line that are held until its end comes."""
_ENVIRONMENT: Final = {**commands.ENVIRONMENT, "MALLOC_ARENA_MAX": "2"}
"""One arena for memory that is asked for by threads: more of them would only hold on to it."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    words: Sequence[str]
    log: Path
    namespace: str = ""
    """A file that stands for the network it is to be in; empty for the machine's."""


class Child:
    def __init__(self, process: commands.Process, lines: "Lines", clock: Clock) -> None:
        self.pid = process.pid
        self._process = process
        self._lines = lines
        self._clock = clock

    async def ended(self) -> None:
        """By itself, and well. Raises `CommandFailed` if not."""
        code = await self._process.wait()
        with suppress(TimeoutError):
            async with self._clock.timeout(LAST_WORDS_S):
                await self._lines.ended.wait()
        # Whoever was killed had no time for words about it.
        said = self._lines.last if code > 0 else b""
        commands.Completed("its process", code, b"", said).check()


@asynccontextmanager
async def running(command: Command, clock: Clock) -> AsyncIterator[Child]:
    """While the body runs; asked to end afterwards, and made to."""
    words = ["setpriv", "--pdeathsig=KILL", "--", *_entering(command.namespace), *command.words]
    with closing(LogFile(command.log, takes_output=False)) as file:
        lines = Lines(file)
        reading, writing = os.pipe2(os.O_CLOEXEC)
        with os.fdopen(writing, "wb") as output:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: lines, os.fdopen(reading, "rb", 0)
            )
            try:
                async with commands.spawn(
                    *words, output=output, grace_s=GRACE_S, env=_ENVIRONMENT, cwd=Path("/")
                ) as process:
                    output.close()
                    yield Child(process, lines, clock)
            finally:
                transport.close()


def _entering(namespace: str) -> list[str]:
    """Not `ip netns exec`, which hides control groups."""
    return ["nsenter", f"--net={namespace}", "--"] if namespace else []


class Lines(asyncio.Protocol):
    """What a program says, line by line into a file. On a disk that is full it is lost, and the program goes on."""

    def __init__(self, file: LogFile) -> None:
        self.last = b""
        self.ended = asyncio.Event()
        self._file = file
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        whole, end, self._rest = (self._rest + data).rpartition(b"\n")
        if len(self._rest) > _LONGEST:
            whole, end, self._rest = whole + end + self._rest, b"\n", b""
        if end:
            self._write(whole + end)

    def connection_lost(self, _: Exception | None) -> None:
        if self._rest:
            self._write(self._rest + b"\n")
        self._rest = b""
        self.ended.set()

    def _write(self, data: bytes) -> None:
        self.last = data.rstrip().rpartition(b"\n")[2]
        if not self._file.closed:
            with suppress(OSError):
                self._file.write(data.decode(errors="replace"))
