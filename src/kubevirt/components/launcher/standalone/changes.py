"""Changes of a file or folder, for those who have a loop.

with Watch(folder, APPEARS) as watch:
while not (folder / "socket").exists():
await watch.changed()
"""

import asyncio
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from kubevirt.components.launcher.standalone import inotify


class Watch:
    """A change that came before somebody waits for it is not lost."""

    def __init__(self, path: str | Path, kinds: int) -> None:
        self._changed = asyncio.Event()
        self._fd = inotify.watch(path, kinds)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._hear)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.remove_reader(self._fd)
        os.close(self._fd)

    async def changed(self) -> None:
        """Returns when there was a change since the last call."""
        await self._changed.wait()
        self._changed.clear()

    def _hear(self) -> None:
        inotify.heard(self._fd)
        self._changed.set()
