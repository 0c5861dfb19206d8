"""When the WAL is brought home, and by whom."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, cast

from kubevirt.apiserver.storage.sqlite.checkpoint import Checkpoints

MIB = 1 << 20


class Connection:
    """Tells of a WAL of so many frames, all of which came home."""

    def __init__(self) -> None:
        self.checkpoints = 0
        self.frames = 0
        self.error: sqlite3.Error | None = None

    def execute(self, _: str) -> "Connection":
        self.checkpoints += 1
        if self.error:
            raise self.error
        return self

    def fetchone(self) -> tuple[int, int, int]:
        return 0, self.frames, self.frames


class Aside(Executor):
    """Does its work only when told to, or when somebody waits for it."""

    def __init__(self) -> None:
        self.work: list[Callable[[], None]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        aside = self

        class Waited(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                aside.catch_up()
                return super().result(timeout)

        future = Waited()
        self.work.append(lambda: future.set_result(fn(*args, **kwargs)))
        return future

    def catch_up(self) -> None:
        while self.work:
            self.work.pop(0)()


class Setting:
    def __init__(self) -> None:
        self.aside = Aside()
        self.connection, self.writer = Connection(), Connection()
        self.checkpoints = Checkpoints(cast("sqlite3.Connection", self.connection), self.aside)

    def write(self, size: int) -> None:
        self.checkpoints.note(0, size, cast("sqlite3.Connection", self.writer))

    def counts(self) -> tuple[int, int]:
        """Checkpoints beside the writer, and by the writer."""
        return self.connection.checkpoints, self.writer.checkpoints


def test_a_short_wal_is_left_alone() -> None:
    setting = Setting()
    setting.write(3 * MIB)
    setting.aside.catch_up()
    assert setting.counts() == (0, 0)


def test_the_wal_comes_home_beside_the_writer() -> None:
    setting = Setting()
    for done in range(1, 4):
        setting.write(5 * MIB)
        setting.aside.catch_up()
        assert setting.counts() == (done, 0)


def test_small_changes_count_with_the_pages_they_touch() -> None:
    setting = Setting()
    for _ in range(400):
        setting.checkpoints.note(1, 10, cast("sqlite3.Connection", setting.writer))
    setting.aside.catch_up()
    assert setting.counts() == (1, 0)


def test_no_second_checkpoint_begins_beside_a_slow_one() -> None:
    setting = Setting()
    setting.write(5 * MIB)
    setting.write(5 * MIB)
    assert len(setting.aside.work) == 1
    assert setting.counts() == (0, 0)


def test_the_writer_waits_for_a_checkpoint_that_cannot_keep_up() -> None:
    setting = Setting()
    setting.write(5 * MIB)
    for _ in range(4):
        setting.write(5 * MIB)
    assert setting.counts() == (1, 1)


def test_a_wal_that_has_become_long_is_brought_home_by_the_writer() -> None:
    setting = Setting()
    setting.connection.frames = 5000  # 20 MB
    setting.write(5 * MIB)
    setting.aside.catch_up()
    setting.write(5 * MIB)
    assert setting.counts() == (1, 1)
    setting.write(5 * MIB)  # the writer got all of it home
    setting.aside.catch_up()
    assert setting.counts() == (2, 1)


def test_a_checkpoint_that_fails_is_tried_again() -> None:
    setting = Setting()
    setting.connection.error = sqlite3.OperationalError("database or disk is full")
    setting.write(5 * MIB)
    setting.aside.catch_up()
    setting.connection.error = None
    setting.write(5 * MIB)
    setting.aside.catch_up()
    assert setting.counts() == (2, 0)
