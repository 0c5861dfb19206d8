"""A file that is to come: the kernel tells when its name appears, so nobody looks again and again."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubevirt.base import inotify
from kubevirt.base.files import Root


async def arrival(path: str | Path) -> None:
    """Returns when there is something by that name in a folder that exists."""
    place = Path(path)
    with Root.open(place.parent) as folder, _news(place.parent) as news:
        while not folder.exists(place.name):
            await news.wait()
            news.clear()


@contextmanager
def _news(folder: Path) -> Iterator[asyncio.Event]:
    """Set whenever a name appears in the folder, also while nobody waits."""
    news = asyncio.Event()
    loop = asyncio.get_running_loop()
    fd = inotify.watch(folder, inotify.APPEARS)

    def hear() -> None:
        inotify.heard(fd)
        news.set()

    try:
        loop.add_reader(fd, hear)
        yield news
    finally:
        loop.remove_reader(fd)
        os.close(fd)
