"""Which files are opened, which are refused, and that a refusal touches nothing."""

import logging
import os
import sqlite3
import sys
import threading
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kubevirt.apiserver.storage.errors import StoreUnusable
from kubevirt.apiserver.storage.sqlite import SqliteSettings, open_store
from kubevirt.apiserver.storage.sqlite.schema import APPLICATION_ID, VERSION, migrate
from kubevirt.base.clock import SystemClock
from kubevirt.base.commands import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "store.db"


def mode(file: Path) -> str:
    return oct(file.stat().st_mode & 0o777)


def share(file: Path) -> None:
    file.chmod(0o644)


def put(file: Path, content: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)


async def make_store(path: Path, entries: int = 3) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        for number in range(entries):
            await store.create(f"/{number:04}", b"x" * 1000)


async def refusal(path: Path) -> str:
    """Why it is not opened, in one sentence; and that this changed nothing."""
    before = snapshot(path.parent)
    with pytest.raises(StoreUnusable) as refused:
        async with open_store(path, clock=SystemClock()):
            pytest.fail("it was opened")
    assert snapshot(path.parent) == before
    assert "\n" not in str(refused.value)
    return str(refused.value)


def snapshot(folder: Path) -> Mapping[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".lock"}


async def test_a_store_is_for_its_owner_alone(path: Path) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        await store.create("/secret", b"")
        modes = {file.name: mode(file) for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(modes, "0o600")
    assert set(modes) >= {"store.db", "store.db-wal"}
    assert mode(path.parent) == "0o700"


async def test_a_store_that_others_could_read_is_made_private(path: Path) -> None:
    await make_store(path)
    share(path)
    await make_store(path, entries=0)
    assert mode(path) == "0o600"


async def test_closing_leaves_one_whole_file(path: Path) -> None:
    await make_store(path)
    assert {file.name for file in path.parent.iterdir()} == {"store.db", "store.db.lock"}


async def test_a_store_in_use_names_its_holder(path: Path) -> None:
    async with open_store(path, clock=SystemClock()) as store:
        said = await refusal(path)
        assert f"is in use by process {os.getpid()} (" in said
        assert "stop that process, or choose another folder" in said
        await store.create("/a", b"")
    await make_store(path)


async def test_a_store_in_use_by_another_process_is_refused(path: Path) -> None:
    await make_store(path)
    async with open_store(path, clock=SystemClock()):
        program = (
            "import asyncio, pathlib, sys\n"
            "from kubevirt.apiserver.storage.sqlite import open_store\n"
            "from kubevirt.base.clock import SystemClock\n"
            "async def main():\n"
            "    async with open_store(pathlib.Path(sys.argv[1]), clock=SystemClock()): pass\n"
            "asyncio.run(main())\n"
        )
        other = await run(sys.executable, "-c", program, path, check=False)
    assert other.exit_code != 0
    assert f"is in use by process {os.getpid()} (" in other.stderr.decode()


async def test_a_lock_whose_holder_died_does_not_count(path: Path) -> None:
    await make_store(path)
    path.with_name("store.db.lock").write_text("1\n")
    await make_store(path, entries=0)


async def test_a_store_of_a_newer_version_is_refused(path: Path) -> None:
    await make_store(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    said = await refusal(path)
    assert f"was written by a newer version of this program (format {VERSION + 1}" in said
    assert "start that version" in said


async def test_a_newer_version_that_is_only_in_the_wal_is_refused(
    path: Path, tmp_path: Path
) -> None:
    """As after a crash in the middle of an upgrade."""
    await make_store(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        copy = tmp_path / "copy" / "store.db"
        for name, content in snapshot(path.parent).items():
            put(copy.with_name(name), content)
    with pytest.raises(StoreUnusable, match="newer version"):
        async with open_store(copy, clock=SystemClock()):
            pass


@pytest.mark.parametrize("content", [b"hello", b"x" * 10_000, b"SQLite format 3\0" + b"\0" * 20])
async def test_a_file_that_is_no_database_is_refused(path: Path, content: bytes) -> None:
    put(path, content)
    assert "is no store of this program" in await refusal(path)


@pytest.mark.parametrize("application_id", [0, 42])
async def test_a_database_of_another_program_is_refused(path: Path, application_id: int) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE log (message TEXT)")
        connection.execute(f"PRAGMA application_id = {application_id}")
    assert "is no store of this program" in await refusal(path)


async def test_a_folder_in_place_of_the_file_is_refused(path: Path) -> None:
    path.joinpath("folder").parent.mkdir(parents=True)
    with pytest.raises(StoreUnusable, match="Is a directory"):
        async with open_store(path, clock=SystemClock()):
            pass


async def test_an_empty_file_is_a_new_store(path: Path) -> None:
    put(path, b"")
    await make_store(path)


async def test_a_damaged_store_is_refused(path: Path) -> None:
    await make_store(path, entries=200)
    data = bytearray(snapshot(path.parent)["store.db"])
    data[8 * 4096 : 20 * 4096] = os.urandom(12 * 4096)
    put(path, bytes(data))
    said = await refusal(path)
    assert "is damaged (" in said
    assert "restore a backup" in said


async def test_a_store_of_which_only_the_beginning_is_left_is_refused(path: Path) -> None:
    await make_store(path)
    put(path, snapshot(path.parent)["store.db"][:4096])
    assert "is damaged (" in await refusal(path)


class Thorough(sqlite3.Connection):
    """Its check of all pages takes as long as nobody interrupts it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._interrupted = threading.Event()

    def interrupt(self) -> None:
        super().interrupt()
        self._interrupted.set()

    def execute(self, sql: str, /, *args: Any) -> sqlite3.Cursor:
        if "quick_check" in sql:  # called when it has begun
            self.set_trace_callback(lambda _: self._wait())
        return super().execute(sql, *args)

    def _wait(self) -> None:
        self._interrupted.clear()  # by one that came before there was anything to interrupt
        assert self._interrupted.wait(60)


async def test_the_check_at_the_start_takes_no_longer_than_it_may(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    async with open_store(path, clock=SystemClock()) as store:
        await store.create("/one", b"1")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Thorough))
    settings = SqliteSettings(check_limit_s=0.001)
    async with open_store(path, clock=SystemClock(), sqlite=settings) as store:
        assert await store.get("/one")
    assert "too large to be checked in time" in caplog.text


def _migrations(*, last: str) -> list[str]:
    return [
        "CREATE TABLE one (a INTEGER); INSERT INTO one VALUES (1);",
        "CREATE TABLE two (a INTEGER); INSERT INTO two SELECT a + 1 FROM one;",
        last,
    ]


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def test_an_old_store_is_migrated_step_by_step() -> None:
    steps = _migrations(last="UPDATE two SET a = a * 10;")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        assert migrate(connection, steps[:1])
        assert migrate(connection, steps)
        assert not migrate(connection, steps)
        assert connection.execute("SELECT a FROM two").fetchall() == [(20,)]
        assert _version(connection) == 3
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_a_migration_that_fails_leaves_the_old_version() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, _migrations(last="")[:1])
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, _migrations(last="UPDATE nothing SET a = 1;"))
        assert not connection.in_transaction
        assert _version(connection) == 1
        tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
        assert tables == [("one",)]
