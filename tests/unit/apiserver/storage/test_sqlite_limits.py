"""A store at its limits: no room, a disk that fails, a writer that breaks, a long WAL."""

import asyncio
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

from kubevirt.apiserver.storage.errors import StoreFailed, StoreFull
from kubevirt.apiserver.storage.log import Ticket
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.sqlite import SqliteLog, SqliteSettings, open_store
from kubevirt.apiserver.storage.sqlite.failures import meaning
from kubevirt.apiserver.storage.sqlite.reader import Reader
from kubevirt.apiserver.storage.sqlite.writer import Writer
from kubevirt.apiserver.storage.store import Store, StoreSettings
from kubevirt.base.clock import SystemClock

QUICK = StoreSettings(retention=RetentionSettings(pause_s=0.0))
TINY = SqliteSettings(size_limit_bytes=2 << 20, reserve_bytes=1 << 20)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def rows(store: Store) -> int:
    """Of the log, of now and before."""
    connection = cast("SqliteLog", store._log)._database.connect()
    (count,) = connection.execute("SELECT count(*) FROM log").fetchone()
    connection.close()
    return int(count)


def size(file: Path) -> int:
    return file.stat().st_size


async def fill_up(store: Store) -> int:
    """Creates until nothing fits any more; how many did."""
    for number in range(10_000):
        try:
            await store.create(f"/full/{number:05}", os.urandom(10_000))
        except StoreFull:
            return number
    pytest.fail("it was never full")


async def test_a_full_store_refuses_writes_and_still_reads(path: Path) -> None:
    async with open_store(path, clock=SystemClock(), sqlite=TINY) as store:
        count = await fill_up(store)
        assert count > 100
        with pytest.raises(StoreFull, match="free space on its disk, or delete objects"):
            await store.create("/more", os.urandom(10_000))
        assert len((await store.list("/full/")).entries) == count
        assert store.revision == count
        assert store.failure is None
    async with open_store(path, clock=SystemClock(), sqlite=TINY) as store:
        assert len((await store.list("/full/")).entries) == count


async def test_a_full_store_can_be_emptied_and_takes_writes_again(path: Path) -> None:
    async with open_store(path, clock=SystemClock(), sqlite=TINY, settings=QUICK) as store:
        count = await fill_up(store)
        for entry in (await store.list("/full/")).entries:
            await store.delete(entry)
        await store.compact(store.revision)
        assert await fill_up(store) >= count - 1
    assert size(path) <= TINY.size_limit_bytes + TINY.reserve_bytes


async def test_of_writes_that_came_together_a_full_store_takes_the_deletions(path: Path) -> None:
    async with open_store(path, clock=SystemClock(), sqlite=TINY) as store:
        await fill_up(store)
        entry = await store.get("/full/00001")
        assert entry
        created, deleted = await asyncio.gather(
            store.create("/more", os.urandom(100_000)), store.delete(entry), return_exceptions=True
        )
        assert isinstance(created, StoreFull)
        assert deleted == store.revision
        assert await store.get("/full/00001") is None


class _BrokenConnection:
    """SQLite's connection on a disk that fails, once `error` is set."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.error: BaseException | None = None
        self.only_at = ""
        """How the statement begins that fails."""
        self._connection = connection

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        if self.error and statement.startswith(self.only_at):
            raise self.error
        return self._connection.execute(statement, *parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def break_disk(part: Writer | Reader) -> _BrokenConnection:
    broken = _BrokenConnection(part._connection)
    part._connection = cast("sqlite3.Connection", broken)
    return broken


def break_writer(store: Store) -> _BrokenConnection:
    return break_disk(cast("SqliteLog", store._log)._writer)


def sqlite_error(code: int, name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    error.sqlite_errorname = name
    return error


async def test_after_a_failed_sync_no_write_is_acknowledged_any_more(path: Path) -> None:
    """The kernel may have dropped what it could not write, and the next sync would not say so."""
    async with open_store(path, clock=SystemClock()) as store:
        entry = await store.create("/a", b"1")
        disk = break_writer(store)
        disk.error = sqlite_error(sqlite3.SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC")
        with pytest.raises(StoreFailed, match="look at the disk, then start the server again"):
            await store.update(entry, b"2")
        disk.error = None
        with pytest.raises(StoreFailed):
            await store.update(entry, b"3")
        assert store.failure
        assert await store.get("/a") == entry
        with pytest.raises(StoreFailed):
            await store.compact(1)
    async with open_store(path, clock=SystemClock()) as store:
        assert store.failure is None
        await store.update(entry, b"4")


async def test_after_a_failed_write_the_next_one_may_work(path: Path) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        entry = await store.create("/a", b"1")
        disk = break_writer(store)
        disk.error = sqlite_error(sqlite3.SQLITE_IOERR_WRITE, "SQLITE_IOERR_WRITE")
        with pytest.raises(StoreFailed, match="SQLITE_IOERR_WRITE"):
            await store.update(entry, b"2")
        disk.error = None
        assert (await store.update(entry, b"3")).revision == 2


async def test_a_read_that_fails_says_so_and_the_next_one_may_work(path: Path) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        entry = await store.create("/a", b"1")
        disk = break_disk(cast("SqliteLog", store._log)._reader)
        disk.error = sqlite_error(sqlite3.SQLITE_IOERR_READ, "SQLITE_IOERR_READ")
        for read in (store.get("/a"), store.list("/"), anext(store.watch("/", after=0))):
            with pytest.raises(StoreFailed, match="could not be read or written"):
                await read
        disk.error = None
        assert await store.get("/a") == entry


async def test_a_compaction_that_fails_is_undone_and_made_later(path: Path) -> None:
    async with open_store(path, clock=SystemClock(), settings=QUICK) as store:
        entry = await store.create("/a", b"1")
        entry = await store.update(entry, b"2")
        disk = break_writer(store)
        disk.error, disk.only_at = sqlite_error(sqlite3.SQLITE_FULL, "SQLITE_FULL"), "COMMIT"
        with pytest.raises(StoreFull):
            await store.compact(2)
        disk.error = None
        entry = await store.update(entry, b"3")
        assert rows(store) == 3
        await store.compact(3)
        assert rows(store) == 1
        assert (await store.list("/")).entries == [entry]


async def test_a_bug_in_the_writer_leaves_nobody_waiting(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        break_writer(store).error = RuntimeError("a bug")
        async with asyncio.timeout(20):
            with pytest.raises(StoreFailed, match="its log says why"):
                await store.create("/a", b"1")
            with pytest.raises(StoreFailed):
                await store.create("/b", b"1")
    assert "the store's writer failed" in caplog.text


async def test_a_bug_in_compaction_leaves_nobody_waiting(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        await store.create("/a", b"1")
        break_writer(store).error = RuntimeError("a bug")
        async with asyncio.timeout(20):
            with pytest.raises(StoreFailed, match="its log says why"):
                await store.compact(1)
            with pytest.raises(StoreFailed):
                await store.create("/b", b"1")


def test_damage_found_while_running_is_final() -> None:
    error = sqlite_error(sqlite3.SQLITE_CORRUPT_INDEX, "SQLITE_CORRUPT_INDEX")
    failure = meaning(error, Path("store.db"))
    assert isinstance(failure, StoreFailed)
    assert failure.is_final
    assert "restore a backup" in str(failure)


async def test_waiting_writes_share_a_commit(path: Path) -> None:
    batches = 0
    async with open_store(path, clock=SystemClock()) as store:
        publish = store._publish

        def counted(batch: object) -> None:
            nonlocal batches
            batches += 1
            publish(batch)  # type: ignore[arg-type]

        cast("SqliteLog", store._log)._writer._publish = counted
        await asyncio.gather(*(store.create(f"/{number}", b"") for number in range(200)))
        assert store.revision == 200
        assert batches < 20


async def test_a_batch_is_bounded(path: Path) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        sizes: list[int] = []
        writer = cast("SqliteLog", store._log)._writer
        commit = writer._commit

        def measured(tickets: list[Ticket]) -> object:
            sizes.append(sum(ticket.size for ticket in tickets))
            return commit(tickets)

        writer._commit = measured  # type: ignore[assignment, method-assign]
        await asyncio.gather(*(store.create(f"/{n}", b"x" * 1_000_000) for n in range(20)))
    assert max(sizes) < 6_000_000


async def test_the_wal_comes_home_while_writes_go_on(path: Path) -> None:
    """Without it the WAL would hold everything ever written."""
    wal = path.with_name("store.db-wal")
    written = 0
    async with open_store(path, clock=SystemClock(), settings=QUICK) as store:
        while written < 60_000_000:
            values = [os.urandom(100_000) for _ in range(20)]
            keys = [f"/{written}-{number}" for number in range(20)]
            await asyncio.gather(*map(store.create, keys, values))
            written += 2_000_000
        assert size(wal) < 45_000_000
        assert size(path) > 10_000_000


async def test_compaction_leaves_nothing_but_the_present(path: Path) -> None:
    async with open_store(path, clock=SystemClock(), settings=QUICK) as store:
        for number in range(10):
            entry = await store.create(f"/{number}", b"1")
            entry = await store.update(entry, b"2")
            if number % 2:
                await store.delete(entry)
        assert rows(store) == 25
        await store.compact(store.revision)
        assert rows(store) == 5
        entries = (await store.list("/")).entries
        assert [entry.key for entry in entries] == [f"/{number}" for number in range(0, 10, 2)]


async def test_reads_never_pin_the_wal(path: Path) -> None:
    """An unfinished read would keep all that was written since from coming home."""
    async with open_store(path, clock=SystemClock()) as store:
        for number in range(300):
            await store.create(f"/{number:03}", b"x" * 100)
        await store.get("/001")
        pieces = store.scan("/")
        await anext(pieces)
        watch = store.watch("/", after=0)
        await anext(watch)
        await store.list("/", limit=2)
        await store.create("/last", b"")
        connection = cast("SqliteLog", store._log)._database.connect()
        busy, frames, home = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        connection.close()
        assert (busy, home) == (0, frames)
        with suppress(StopAsyncIteration):
            await anext(pieces)
