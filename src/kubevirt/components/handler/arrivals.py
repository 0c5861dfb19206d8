"""Names that appear in folders: one watch of the kernel's for all who wait, since a user may have few.

    with arrivals.at(folder) as arrived:
        await arrived.wait()

Whoever waits is woken whenever a name appears anywhere, and looks whether it was the one. Where the kernel has no
watch to give, nobody is woken: those who wait have to look from time to time in any case.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from kubevirt.base import inotify
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger

log = get_logger(__name__)


class Arrivals:
    def __init__(self) -> None:
        self._fd: int | None = None
        self._waiting: set[asyncio.Event] = set()
        self._watched: Counter[int] = Counter()

    @contextmanager
    def running(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        try:
            self._fd = inotify.instance()
        except OSError as error:
            log.warning("nobody tells when files appear, so they are looked for", error=error)
            yield
            return
        loop.add_reader(self._fd, self._hear)
        try:
            yield
        finally:
            loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None

    @contextmanager
    def at(self, folder: Root) -> Iterator[asyncio.Event]:
        """Set whenever a name may have appeared there."""
        arrived = asyncio.Event()
        number = self._watch(folder)
        self._waiting.add(arrived)
        try:
            yield arrived
        finally:
            self._waiting.discard(arrived)
            self._unwatch(number)

    def _watch(self, folder: Root) -> int | None:
        if self._fd is None:
            return None
        with folder.followed(".") as place:
            try:
                number = inotify.add(self._fd, f"/proc/self/fd/{place}", inotify.APPEARS)
            except OSError as error:
                log.warning("a folder is not watched", error=error)
                return None
        self._watched[number] += 1
        return number

    def _unwatch(self, number: int | None) -> None:
        if number is None or self._fd is None:
            return
        self._watched[number] -= 1
        if not self._watched[number]:
            del self._watched[number]
            inotify.remove(self._fd, number)

    def _hear(self) -> None:
        if self._fd is not None:
            inotify.heard(self._fd)
        for each in self._waiting:
            each.set()
