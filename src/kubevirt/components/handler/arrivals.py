"""Names that appear in folders: one watch of the kernel's for all who wait, since a user may have few.

    with arrivals.at(folder) as arrived:
        await arrived.wait()

Whoever waits is woken whenever a name appears in their folder, and looks whether it was the one. Where the kernel
has no watch to give, nobody is woken: those who wait have to look from time to time in any case.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kubevirt.base import inotify
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger

log = get_logger(__name__)


class Arrivals:
    def __init__(self) -> None:
        self._fd: int | None = None
        self._waiting: dict[int, set[asyncio.Event]] = {}
        """For each folder that is watched."""

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
        if number is None:
            yield arrived
            return
        self._waiting.setdefault(number, set()).add(arrived)
        try:
            yield arrived
        finally:
            self._waiting[number].discard(arrived)
            self._unwatch(number)

    def _watch(self, folder: Root) -> int | None:
        if self._fd is None:
            return None
        with folder.followed(".") as place:
            try:
                return inotify.add(self._fd, f"/proc/self/fd/{place}", inotify.APPEARS)
            except OSError as error:
                log.warning("a folder is not watched", error=error)
                return None

    def _unwatch(self, number: int) -> None:
        """The kernel tells that a watch has ended as it tells of a name. Nobody waits under its number any more:
        were all woken who wait elsewhere, each would look, stop waiting in turn, and wake the others for ever.
        """
        if self._waiting[number]:
            return
        del self._waiting[number]
        if self._fd is not None:
            inotify.remove(self._fd, number)

    def _hear(self) -> None:
        if self._fd is None:
            return
        told = inotify.heard(self._fd)
        numbers = self._waiting.keys() if inotify.OVERFLOWED in told else told
        for number in numbers:
            for each in self._waiting.get(number, ()):
                each.set()
