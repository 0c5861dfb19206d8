"""The log on disk: SQLite in WAL mode, one writer thread, readers beside it.

An acknowledged write is on disk: `synchronous=FULL` syncs the WAL in each commit, and only then are
its writers told. Many writes share a commit (`writer.py`). Readers have connections of their own and
never wait for the writer (`reader.py`); the WAL is brought home into the database beside both
(`checkpoint.py`). `opening.py` says what may be opened at all, `schema.py` what is in it.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from kubevirt.apiserver.storage.errors import StoreFailed
from kubevirt.apiserver.storage.log import Publish, Ticket
from kubevirt.apiserver.storage.records import Entry, Event, Span
from kubevirt.apiserver.storage.sqlite.checkpoint import Checkpoints
from kubevirt.apiserver.storage.sqlite.opening import Opened, SqliteSettings, opened
from kubevirt.apiserver.storage.sqlite.reader import Reader
from kubevirt.apiserver.storage.sqlite.writer import Writer
from kubevirt.apiserver.storage.store import Store, StoreSettings
from kubevirt.base.clock import Clock

__all__ = ["SqliteLog", "SqliteSettings", "open_store"]


@asynccontextmanager
async def open_store(
    path: Path,
    *,
    clock: Clock,
    settings: StoreSettings | None = None,
    sqlite: SqliteSettings | None = None,
) -> AsyncIterator[Store]:
    """The store in the file `path`, which is made if there is none.

    `StoreUnusable` says in one sentence why it cannot be opened; then nothing was touched.
    """
    log = await SqliteLog.open(path, sqlite or SqliteSettings())
    store = Store(log, clock=clock, settings=settings or StoreSettings())
    async with store.running():
        yield store


class SqliteLog:
    def __init__(self, database: Opened) -> None:
        # For what is one long call into SQLite, which leaves Python to the event loop meanwhile.
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="store-aside")
        connection_aside = database.connect()
        self._reader_aside = Reader(database.path, connection_aside)
        # Other reads happen in the loop. A thread would make a single get ten times as dear, and
        # starve a list where the loop is busy: it would lose Python's lock at every row.
        self._reader = Reader(database.path, database.connect())
        self._writer = Writer(database, Checkpoints(connection_aside, self._aside))
        self._database = database
        self.revision = database.revision
        self.compacted = database.compacted

    @classmethod
    async def open(cls, path: Path, settings: SqliteSettings) -> "SqliteLog":
        return cls(await asyncio.to_thread(opened, path, settings))

    @property
    def failure(self) -> StoreFailed | None:
        return self._writer.failure

    def start(self, publish: Publish) -> None:
        self._writer.start(publish)

    def submit(self, ticket: Ticket) -> None:
        self._writer.submit(ticket)

    def get(self, key: str, at: int) -> Entry | None:
        return self._reader.get(key, at)

    def entries(
        self, span: Span, after: str, at: int, limit: int
    ) -> tuple[list[Entry], str | None]:
        return self._reader.entries(span, after, at, limit)

    def events(self, span: Span, after: int, upto: int) -> tuple[list[Event], int]:
        return self._reader.events(span, after, upto)

    async def count(self, span: Span, after: str, at: int) -> int:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._aside, self._reader_aside.count, span, after, at)

    async def compact(self, floor: int) -> None:
        await self._writer.compact(floor)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._aside.shutdown()
        self._reader.close()
        self._reader_aside.close()
        self._database.close()
