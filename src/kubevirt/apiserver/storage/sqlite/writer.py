"""The writer: the one thread that changes the database.

Whatever waits when a commit has ended goes into the next one: with many clients a sync is shared by
many, and nobody waits for company. A batch is one INSERT of many rows, which is its own transaction:
the fewer calls into SQLite, the less often the thread must ask for Python's lock back, which a busy
event loop gives away only every few milliseconds.

The writer knows the revision of every key, so it reads nothing to decide. It tells the event loop of
a batch after COMMIT has returned.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple

from kubevirt.apiserver.storage.deciding import advance, decide
from kubevirt.apiserver.storage.errors import StoreFailed, StoreFull
from kubevirt.apiserver.storage.log import Batch, Publish, Ticket
from kubevirt.apiserver.storage.records import Entry, Event
from kubevirt.apiserver.storage.sqlite.checkpoint import Checkpoints
from kubevirt.apiserver.storage.sqlite.failures import meaning
from kubevirt.apiserver.storage.sqlite.opening import PAGE_BYTES, Opened
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger

log = get_logger(__name__)

_MOST_CHANGES: Final = 256
_MOST_BYTES: Final = 4 << 20
_CLOSE_S: Final = 30.0

_ROW: Final = "(?,?,?,?,?,?)"
_INSERT: Final = "INSERT INTO log (revision, key, created, previous, deleted, value) VALUES "
_READ: Final = "SELECT key, value, revision, created FROM log WHERE revision = ?"


class _Compaction(NamedTuple):
    floor: int
    done: asyncio.Future[None]


class _End(NamedTuple):
    pass


class Writer:
    def __init__(self, database: Opened, checkpoints: Checkpoints) -> None:
        self._database = database
        self._connection = database.connection
        self._checkpoints = checkpoints
        self._heads = database.heads
        self._revision = database.revision
        self._compacted = database.compacted
        self.failure: StoreFailed | None = None
        self._inbox: SimpleQueue[Ticket | _Compaction | _End] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._limit(database.settings.size_limit_bytes)

    # In the event loop

    def start(self, publish: Publish) -> None:
        self._publish = publish
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def submit(self, ticket: Ticket) -> None:
        self._inbox.put(ticket)

    async def compact(self, floor: int) -> None:
        done: asyncio.Future[None] = self._loop.create_future()
        self._inbox.put(_Compaction(floor, done))
        await done

    def close(self) -> None:
        """Waits for what was submitted. Not in the event loop: it must hear of it."""
        self._inbox.put(_End())
        self._thread.join(_CLOSE_S)
        if self._thread.is_alive():
            raise StoreFailed(f"the disk under the store {self._database.path} does not answer")

    # In the writer's thread

    def _run(self) -> None:
        while True:
            tickets, other = self._gather()
            if tickets:
                self._tell(self._commit_safely(tickets))
            if isinstance(other, _Compaction):
                self._compact(other)
            elif other is not None:
                return

    def _commit_safely(self, tickets: list[Ticket]) -> Batch:
        try:
            return self._commit(tickets)
        except Exception as bug:  # noqa: BLE001  # whoever waits must hear of it
            return self._refused(tickets, self._broken(bug))

    def _broken(self, bug: Exception) -> StoreFailed:
        log.error("the store's writer failed", error=bug)
        self.failure = StoreFailed(
            f"the writer of the store {self._database.path} failed; its log says why, a restart"
            " reads again what is on disk",
            is_final=True,
        )
        return self.failure

    def _gather(self) -> tuple[list[Ticket], _Compaction | _End | None]:
        """All tickets that wait, up to a limit, and what stood behind them if it was no ticket."""
        tickets: list[Ticket] = []
        changes = size = 0
        item = self._inbox.get()
        with suppress(Empty):
            while isinstance(item, Ticket):
                tickets.append(item)
                changes += len(item.changes)
                size += item.size
                if changes >= _MOST_CHANGES or size >= _MOST_BYTES:
                    return tickets, None
                item = self._inbox.get_nowait()
            return tickets, item
        return tickets, None

    def _commit(self, tickets: list[Ticket]) -> Batch:
        if self.failure:
            return self._refused(tickets, self.failure)
        try:
            batch = decide(tickets, self._heads, self._revision, self._read)
            if batch.events:
                self._insert(batch.events)
        except sqlite3.Error as error:
            return self._failed(tickets, meaning(error, self._database.path))
        advance(self._heads, batch.events)
        self._revision = batch.revision
        self._note(batch.events)
        return batch

    def _failed(self, tickets: list[Ticket], failure: KubevirtError) -> Batch:
        if isinstance(failure, StoreFailed) and failure.is_final:
            log.error("the store takes no more writes", error=failure)
            self.failure = failure
        deletions = [ticket for ticket in tickets if ticket.only_deletes]
        if not isinstance(failure, StoreFull) or not deletions or self._uses_reserve:
            return self._refused(tickets, failure)
        others = [ticket for ticket in tickets if not ticket.only_deletes]
        with self._reserve():
            batch = self._commit(deletions)
        batch.outcomes.extend(self._refused(others, failure).outcomes)
        return batch

    def _refused(self, tickets: list[Ticket], failure: KubevirtError) -> Batch:
        return Batch(self._revision, [], [(ticket, failure) for ticket in tickets])

    def _insert(self, events: list[Event]) -> None:
        parameters: list[int | str | bytes] = []
        for event in events:
            parameters += _row(event)
        rows = ",".join([_ROW] * len(events))
        self._connection.execute(_INSERT + rows, parameters)

    def _read(self, revision: int) -> Entry:
        return Entry(*self._connection.execute(_READ, (revision,)).fetchone())

    def _note(self, events: list[Event]) -> None:
        size = sum(len(event.entry.value) for event in events if event.entry)
        self._checkpoints.note(len(events), size, self._connection)

    def _tell(self, batch: Batch) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(self._publish, batch)

    def _compact(self, wanted: _Compaction) -> None:
        failure: KubevirtError | None = self.failure
        try:
            if not failure and wanted.floor > self._compacted:
                with self._reserve():
                    self._forget(wanted.floor)
        except sqlite3.Error as error:
            failure = meaning(error, self._database.path)
        except Exception as bug:  # noqa: BLE001  # whoever waits must hear of it
            failure = self._broken(bug)

        def tell() -> None:
            if wanted.done.done():
                return
            if failure:
                wanted.done.set_exception(failure)
            else:
                wanted.done.set_result(None)

        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(tell)

    def _forget(self, floor: int) -> None:
        """What was replaced in these revisions goes, and deletions of these revisions do."""
        window = (self._compacted, floor)
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            replaced = execute(
                "DELETE FROM log WHERE revision IN"
                " (SELECT previous FROM log WHERE revision > ? AND revision <= ? AND previous > 0)",
                window,
            ).rowcount
            execute("DELETE FROM log WHERE revision > ? AND revision <= ? AND deleted", window)
            execute("UPDATE compacted SET revision = ?", (floor,))
            execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                execute("ROLLBACK")
            raise
        self._compacted = floor
        self._checkpoints.note(replaced, 0, self._connection)

    @property
    def _uses_reserve(self) -> bool:
        return self._size_limit > self._database.settings.size_limit_bytes

    @contextmanager
    def _reserve(self) -> Iterator[None]:
        """Room beyond the limit, for what makes room."""
        settings = self._database.settings
        self._limit(settings.size_limit_bytes + settings.reserve_bytes)
        try:
            yield
        finally:
            self._limit(settings.size_limit_bytes)

    def _limit(self, size: int) -> None:
        self._size_limit = size
        self._connection.execute(f"PRAGMA max_page_count = {size // PAGE_BYTES}")


def _row(event: Event) -> tuple[int, str, int, int, int, bytes]:
    previous = event.previous.revision if event.previous else 0
    if event.entry:
        created, value, deleted = event.entry.created, event.entry.value, 0
    else:
        created, value, deleted = event.previous.created if event.previous else 0, b"", 1
    return event.revision, event.key, created, previous, deleted, value
