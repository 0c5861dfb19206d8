"""Opening a database: what is refused, what is checked, what is set.

In this order, so that a refusal touches nothing: the lock; the file's header, read as plain bytes,
since SQLite would write beside a database that it opens; then SQLite's own check of its pages, for a
limited time; only then migrations.
"""

import os
import sqlite3
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kubevirt.apiserver.storage.errors import StoreUnusable
from kubevirt.apiserver.storage.sqlite.failures import damaged, unusable
from kubevirt.apiserver.storage.sqlite.lock import Lock
from kubevirt.apiserver.storage.sqlite.schema import APPLICATION_ID, VERSION, migrate
from kubevirt.base.log import get_logger

log = get_logger(__name__)

PAGE_BYTES: Final = 4096
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_CACHED_STATEMENTS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    size_limit_bytes: int = 8 << 30
    """How large the database may grow: a controller that runs wild must not fill the disk that
    guests live on. etcd's usual limit for Kubernetes."""

    reserve_bytes: int = 64 << 20
    """Room beyond the limit that only deletions get, or a full store could never be emptied."""

    check_limit_s: float = 0.2
    """How long the check of the pages may hold up the start; about 100 MB in that time."""

    busy_s: float = 5.0
    """How long to wait for somebody who reads or copies the database with SQLite's own tools."""


@dataclass(slots=True)
class Opened:
    """A database that is ours, migrated, with what the writer needs to know of it."""

    path: Path
    settings: SqliteSettings
    lock: Lock
    connection: sqlite3.Connection
    """The writer's."""
    revision: int = 0
    compacted: int = 0
    heads: dict[str, int] = field(default_factory=dict)
    """The revision of each key that exists."""

    def connect(self) -> sqlite3.Connection:
        return _connect(self.path, self.settings)

    def close(self) -> None:
        """The last connection to close leaves one whole file without a WAL."""
        self.connection.close()
        self.lock.release()


def opened(path: Path, settings: SqliteSettings) -> Opened:
    try:
        with ExitStack() as undo:
            _make_folder(path.parent)
            lock = Lock(path)
            undo.callback(lock.release)
            _check_header(path)
            _make_private(path)
            connection = _connect(path, settings)
            undo.callback(connection.close)
            _check_version(path, *_identity(connection))
            _check_pages(path, settings)
            _prepare(path, connection)
            database = Opened(path, settings, lock, connection)
            _load(database)
            undo.pop_all()
    except OSError as error:
        raise StoreUnusable(f"the store {path} cannot be opened: {error.strerror}") from error
    except sqlite3.Error as error:
        raise unusable(error, path) from error
    return database


def _make_private(path: Path) -> None:
    """Secrets are in there. SQLite gives the files beside it the same mode."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_mode & 0o077:
            os.fchmod(fd, 0o600)
    finally:
        os.close(fd)


def _make_folder(folder: Path) -> None:
    """A new folder is only sure to be there after a power cut if the one above it was synced.

    Of the files in it SQLite takes care itself.
    """
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    fd = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _check_header(path: Path) -> None:
    """Only while no connection is open: to close the file would drop SQLite's own locks on it."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return
    if not header:  # the last start ended before there was anything
        return
    if _was_being_made(path, header):
        return
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise _stranger(path)
    _check_version(path, int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big"))


def _was_being_made(path: Path, header: bytes) -> bool:
    """The power went before its first page was written. SQLite finds in its journal that there was nothing, and begins anew."""
    journal = path.with_name(f"{path.name}-journal")
    return not any(header) and journal.exists() and journal.stat().st_size > 0


def _identity(connection: sqlite3.Connection) -> tuple[int, int]:
    """As the WAL has it, which may be newer than the file."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not application_id and connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        return -1, version
    return application_id, version


def _check_version(path: Path, application_id: int, version: int) -> None:
    if application_id not in {0, APPLICATION_ID}:
        raise _stranger(path)
    if version > VERSION:
        raise StoreUnusable(
            f"the store {path} was written by a newer version of this program (format {version},"
            f" this one knows {VERSION}); start that version, or choose another folder"
        )


def _stranger(path: Path) -> StoreUnusable:
    return StoreUnusable(
        f"{path} is no store of this program; move it away, or choose another folder"
    )


def _connect(path: Path, settings: SqliteSettings) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=settings.busy_s,
        isolation_level=None,  # transactions are ours to begin
        check_same_thread=False,  # each is used by one thread at a time, not always by its maker
        cached_statements=_CACHED_STATEMENTS,
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        # Zeroes what is deleted only where that costs no further page: the file is private.
        connection.execute("PRAGMA secure_delete = FAST")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _check_pages(path: Path, settings: SqliteSettings) -> None:
    """Finds a torn or overwritten database before anyone builds on it.

    On a connection of its own: the check leaves locks behind that end only with it.
    """
    limit_s = settings.check_limit_s
    connection = _connect(path, settings)
    done = threading.Event()

    def interrupt() -> None:
        while not done.wait(limit_s):  # again, if the check had not even begun
            connection.interrupt()

    alarm = threading.Thread(target=interrupt, name="store-check", daemon=True)
    alarm.start()
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        log.info("the store is too large to be checked in time", path=str(path), limit_s=limit_s)
        return
    finally:
        done.set()
        alarm.join()
        connection.close()
    if verdict != "ok":
        raise damaged(path, verdict)


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    # The schema first, then the WAL: so the file's own header always tells the version.
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = NONE")
    migrated = migrate(connection)
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreUnusable(
            f"the file system under {path} shares no memory between readers and a writer, which the"
            " store needs; choose a folder on a local disk"
        )
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # see checkpoint.py
    if migrated:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _load(database: Opened) -> None:
    connection = database.connection
    (database.compacted,) = connection.execute("SELECT revision FROM compacted").fetchone()
    (newest,) = connection.execute("SELECT max(revision) FROM log").fetchone()
    # The newest row may have been the deletion that compaction forgot; its number stays used.
    database.revision = max(newest or 0, database.compacted)
    rows = connection.execute("SELECT key, max(revision), deleted FROM log GROUP BY key")
    database.heads = {key: revision for key, revision, deleted in rows if not deleted}
