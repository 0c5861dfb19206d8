"""News of a file or folder for a loop: from the kernel, or, where it has no ear left for us, by looking."""

import asyncio
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kubevirt.base import inotify

GLANCE_S: Final = 0.05


@contextmanager
def news_of(path: str | os.PathLike[str], kinds: int) -> Iterator[asyncio.Event]:
    """Set with each change of a file or folder, also while nobody waits for it.

    All processes of a user share 128 instances, as a machine comes, and launchers are one user: where none is left,
    it is set again and again.
    """
    try:
        fd = inotify.watch(path, kinds)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        with _glances() as glances:
            yield glances
        return
    changed, loop = asyncio.Event(), asyncio.get_running_loop()

    def hear() -> None:
        inotify.heard(fd)
        changed.set()

    try:
        loop.add_reader(fd, hear)
        yield changed
    finally:
        loop.remove_reader(fd)
        os.close(fd)


@contextmanager
def _glances() -> Iterator[asyncio.Event]:
    changed, loop = asyncio.Event(), asyncio.get_running_loop()
    next_one: asyncio.TimerHandle

    def glance() -> None:
        nonlocal next_one
        changed.set()
        next_one = loop.call_later(GLANCE_S, glance)

    next_one = loop.call_later(GLANCE_S, glance)
    try:
        yield changed
    finally:
        next_one.cancel()
