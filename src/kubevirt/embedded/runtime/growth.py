"""Folders in which something is written: the kernel tells whoever follows a log there.

All of a node's followers share one instance of inotify: the kernel lets a user have 128 of them.
"""

import asyncio
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kubevirt.base import inotify

_HEAD: Final = struct.Struct("iIII")
"""The number of a watch, what happened, and the length of the name that follows."""
_OVERFLOW: Final = -1
_READ: Final = 64 * 1024


class Growth:
    def __init__(self) -> None:
        self._fd = -1
        self._followers: dict[int, list[asyncio.Event]] = {}
        """By the number of their watch."""

    @contextmanager
    def heard(self, folder: Path) -> Iterator[asyncio.Event]:
        """Set whenever a file in it is written to, or one gets a name there."""
        watch = self._watch(folder)
        event = asyncio.Event()
        self._followers.setdefault(watch, []).append(event)
        try:
            yield event
        finally:
            self._leave(watch, event)

    def _watch(self, folder: Path) -> int:
        if self._fd < 0:
            self._fd = inotify.instance()
            asyncio.get_running_loop().add_reader(self._fd, self._hear)
        try:
            return inotify.add(self._fd, folder, inotify.MODIFIED | inotify.APPEARS)
        except OSError:
            self._close_if_unused()
            raise

    def _leave(self, watch: int, event: asyncio.Event) -> None:
        others = self._followers[watch]
        others.remove(event)
        if not others:
            del self._followers[watch]
            inotify.remove(self._fd, watch)
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if not self._followers:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            told = os.read(self._fd, _READ)
            place = 0
            while place < len(told):
                watch, _, _, length = _HEAD.unpack_from(told, place)
                place += _HEAD.size + length
                self._tell(watch)

    def _tell(self, watch: int) -> None:
        """When there was too much to tell, the kernel tells only that."""
        everybody = self._followers.values()
        told = everybody if watch == _OVERFLOW else [self._followers.get(watch, [])]
        for events in told:
            for event in events:
                event.set()
