"""Files that appear and grow: the kernel tells (inotify), so nobody looks again and again.

with Watch(folder, APPEARS) as watch:
    while not (folder / "socket").exists():
        await watch.changed()
"""

import asyncio
import ctypes
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

MODIFIED: Final = 0x2
APPEARS: Final = 0x80 | 0x100  # moved to, created


class Watch:
    """Of one file or folder. A change that came before somebody waits for it is not lost."""

    def __init__(self, path: str | Path, kinds: int) -> None:
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._fd: int = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self._fd < 0 or _libc.inotify_add_watch(self._fd, os.fsencode(path), kinds) < 0:
            number = ctypes.get_errno()
            self._close()
            raise OSError(number, os.strerror(number), str(path))
        self._loop.add_reader(self._fd, self._read)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.remove_reader(self._fd)
        self._close()

    async def changed(self) -> None:
        """Returns when there was a change since the last call."""
        await self._changed.wait()
        self._changed.clear()

    def _read(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._fd, 4096)
        self._changed.set()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)


_libc: Final = ctypes.CDLL(None, use_errno=True)
