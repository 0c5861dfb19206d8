"""The log of an attempt, over all its files, and on as it grows.

    await copy(attempt, Wanted(tail=10, is_followed=True), put, growth)

A log that has grown to its limit becomes log.1, the one before log.2; the oldest goes. Whoever follows one
holds the file that is open, whatever its name is by now, and goes on with the one that came after it, so
there is no gap. Only who reads slower than the whole of a log is written misses something.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from kubevirt.base.errors import Retry
from kubevirt.base.tasks import background
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.growth import Growth
from kubevirt.embedded.runtime.log_lines import Shown, Wanted, is_piece

BLOCK: Final = 64 * 1024
_NAME: Final = "log"
_MOST_FILES: Final = 100
_JUST_NOW_S: Final = 0.05


Put = Callable[[bytes], Awaitable[object]]
"""Takes what is shown; as long as it takes, nothing more is read."""


def _nothing() -> None:
    pass


async def copy(
    attempt: Attempt,
    wanted: Wanted,
    put: Put,
    growth: Growth,
    begun: Callable[[], None] = _nothing,
) -> None:
    """What is asked for of its log, and what is added to it until the container ends if it is followed.
    `begun` is called then, when nothing that is said from now on will be missed.
    """
    shown = Shown(wanted)
    if wanted.is_followed:
        async with _heard(attempt, growth) as news:
            await _follow(attempt, wanted, news, shown, put, begun)
        return
    with ExitStack() as stack:
        for file in _chosen(_opened(attempt.folder, stack), wanted):
            for block in file.blocks():
                await _put(shown, block, put)
                if shown.is_full:
                    return


async def _put(shown: Shown, block: bytes, put: Put) -> None:
    if text := shown.of(block):
        await put(text)
    await asyncio.sleep(0)  # a log may be long, and others wait


class _News:
    """Something was written, or the container has ended."""

    def __init__(self, heard: asyncio.Event) -> None:
        self.heard = heard
        self.has_ended = False


class _File:
    """One file of a log, read from a place on."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        found = os.fstat(self._fd)
        self.identity = (found.st_dev, found.st_ino)
        self.written_at = found.st_mtime
        self.size = found.st_size
        """When it was opened."""
        self.place = 0

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def blocks(self) -> Iterator[bytes]:
        """Whole lines, up to the size it had."""
        while self.place < self.size and (block := self.block()):
            yield block

    def block(self) -> bytes:
        """The next whole lines; nothing if there are none yet."""
        data = os.pread(self._fd, BLOCK, self.place)
        block = data[: data.rfind(b"\n") + 1]
        self.place += len(block)
        return block

    def backwards(self) -> Iterator[tuple[int, bytes]]:
        """The lines from the last one on, and where each begins."""
        place, later = self.size, b""
        while place:
            step = min(BLOCK, place)
            place -= step
            later = os.pread(self._fd, step, place) + later
            begin = later.find(b"\n") + 1 if place else 0
            lines = later[begin:].split(b"\n")[:-1]
            offset = place + begin + sum(len(line) + 1 for line in lines)
            for line in reversed(lines):
                offset -= len(line) + 1
                yield offset, line
            later = later[:begin]


def _names(folder: Path) -> Iterator[Path]:
    """The newest first: a file that is renamed meanwhile is met twice and not never."""
    yield folder / _NAME
    for number in range(1, _MOST_FILES):
        yield folder / f"{_NAME}.{number}"


def _opened(folder: Path, stack: ExitStack, after: _File | None = None) -> list[_File]:
    """The files of a log, the oldest first: all of them, or those that are newer than one."""
    found: dict[tuple[int, int], _File] = {}
    for number, path in enumerate(_names(folder)):
        try:
            file = _File(path)
        except FileNotFoundError:
            if number:
                break
            continue  # it is just being made anew
        if after and file.identity == after.identity:
            file.close()
            break
        stack.callback(file.close)
        found.setdefault(file.identity, file)
    return list(reversed(found.values()))


def _chosen(files: Sequence[_File], wanted: Wanted) -> Sequence[_File]:
    """Those that matter, each at the place where it begins to."""
    if wanted.since:
        first = wanted.since.timestamp()
        files = [each for each in files if each.written_at >= first or each is files[-1]]
    return files if wanted.tail is None else _tail(files, wanted.tail)


def _tail(files: Sequence[_File], count: int) -> Sequence[_File]:
    """From the line on that is the last but `count`. A line that is not finished yet is one, too."""
    is_last = True
    for number in reversed(range(len(files))):
        for offset, line in files[number].backwards():
            if is_last or not is_piece(line):
                if count == 0:
                    files[number].place = offset + len(line) + 1
                    return files[number:]
                count -= 1
            is_last = False
    return files


async def _follow(
    attempt: Attempt,
    wanted: Wanted,
    news: _News,
    shown: Shown,
    put: Put,
    begun: Callable[[], None],
) -> None:
    with ExitStack() as stack:
        files = list(_chosen(_opened(attempt.folder, stack), wanted))
        begun()
        while not shown.is_full:
            has_ended = news.has_ended
            news.heard.clear()
            if files and (block := files[0].block()):
                await _put(shown, block, put)
            elif len(files) > 1:
                files.pop(0).close()
            elif later := _opened(attempt.folder, stack, files[0] if files else None):
                files += later  # the first one is read once more: it may have grown after we looked
            elif has_ended:
                return
            else:
                await news.heard.wait()


@asynccontextmanager
async def _heard(attempt: Attempt, growth: Growth) -> AsyncIterator[_News]:
    with growth.heard(attempt.folder) as heard:
        news = _News(heard)
        async with background(_await_end(attempt, news)):
            yield news


async def _await_end(attempt: Attempt, news: _News) -> None:
    while not news.has_ended:
        try:
            await attempt.ended()
            news.has_ended = True
        except Retry:  # its keeper has only just begun, or is just going
            await asyncio.sleep(_JUST_NOW_S)
    news.heard.set()
