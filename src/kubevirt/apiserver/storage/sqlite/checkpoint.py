"""Bringing the WAL home: its pages are copied into the database, beside the writer.

SQLite would do it in the middle of some commit, whose writer would wait for two more syncs and
thousands of pages. Here another thread does it while writes go on. What is written meanwhile stays
behind in the WAL, which can begin anew only when all of it is home. So when it has become long all the
same, the writer pauses for the rest: the WAL never gets much longer than twice `_LONG_BYTES`.
"""

import sqlite3
from concurrent.futures import Executor, Future
from typing import Final

from kubevirt.base.log import get_logger

log = get_logger(__name__)

_EVERY_BYTES: Final = 4 << 20
_LONG_BYTES: Final = 16 << 20
_PAGE_BYTES: Final = 4096
_CHANGE_BYTES: Final = 3 * _PAGE_BYTES
"""Pages that even a small change touches: of the table, of the index, of what is above them."""


class Checkpoints:
    def __init__(self, connection: sqlite3.Connection, aside: Executor) -> None:
        """`connection` is used in `aside` alone."""
        self._connection = connection
        self._aside = aside
        self._beside: Future[None] | None = None
        self._written = 0  # bytes since the last checkpoint began
        self._is_long = False

    def note(self, changes: int, size: int, writer: sqlite3.Connection) -> None:
        """By the writer, after each commit."""
        self._written += changes * _CHANGE_BYTES + size
        if self._written < _EVERY_BYTES:
            return
        if self._beside and not self._beside.done():
            if self._written < _LONG_BYTES:
                return
            self._beside.result()
            self._is_long = True
        self._written = 0
        if self._is_long:
            self._beside = None
            self._checkpoint(writer)
            self._is_long = False
        else:
            self._beside = self._aside.submit(self._checkpoint, self._connection)

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        try:
            _, frames, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            # Most likely a full disk. The WAL still has everything; the next time may work.
            log.warning("the write-ahead log could not be brought home", reason=str(error))
            return
        # Even if all of it came home: the next write may have come before it could begin anew.
        self._is_long = frames * _PAGE_BYTES > _LONG_BYTES
