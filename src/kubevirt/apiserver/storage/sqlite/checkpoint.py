"""Bringing the WAL home: its pages are copied into the database, beside the writer.

SQLite would do it in the middle of some commit, whose writer would wait for two more syncs and
thousands of pages. Here another connection does it while writes go on. What is written meanwhile
stays behind in the WAL, which can begin anew only when all of it is home; so when it has become long
all the same, the writer pauses for the small rest.
"""

import sqlite3
from concurrent.futures import Executor
from typing import Final

from kubevirt.base.log import get_logger

log = get_logger(__name__)

_EVERY_BYTES: Final = 4 << 20
_LONG_FRAMES: Final = (32 << 20) // 4096
_CHANGE_BYTES: Final = 3 * 4096
"""Pages that even a small change touches: of the table, of the index, of what is above them."""


class Checkpoints:
    def __init__(self, connection: sqlite3.Connection, aside: Executor) -> None:
        self._connection = connection
        self._aside = aside
        self._written = 0
        self._is_busy = False
        self._is_long = False

    def note(self, changes: int, size: int, writer: sqlite3.Connection) -> None:
        """By the writer, after each commit."""
        self._written += changes * _CHANGE_BYTES + size
        if self._written < _EVERY_BYTES or self._is_busy:
            return
        if self._is_long:
            self._checkpoint(writer)
            return
        self._is_busy = True
        self._aside.submit(self._beside)

    def _beside(self) -> None:
        try:
            self._checkpoint(self._connection)
        finally:
            self._is_busy = False

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        self._written = 0
        try:
            _, frames, home = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            # Most likely a full disk. The WAL still has everything; the next time may work.
            log.warning("the write-ahead log could not be brought home", reason=str(error))
            return
        self._is_long = frames > _LONG_FRAMES and frames > home
