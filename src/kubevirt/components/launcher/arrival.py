"""A file that is to come: the kernel tells when its name appears, so nobody looks again and again."""

from pathlib import Path

from kubevirt.base import inotify
from kubevirt.base.file_news import news_of
from kubevirt.base.files import Root


async def arrival(path: str | Path) -> None:
    """Returns when there is something by that name in a folder that exists."""
    place = Path(path)
    with (
        Root.open(place.parent) as folder,
        news_of(place.parent, inotify.APPEARS) as news,
    ):
        while not folder.exists(place.name):
            await news.wait()
            news.clear()
