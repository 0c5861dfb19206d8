"""What SQLite's errors mean for the store.

A full disk is no damage: the write is undone and the next one may find room. A sync that failed is
the worst: the kernel may have dropped what it could not write and say nothing of it the next time, so
from then on no write could be acknowledged honestly.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kubevirt.apiserver.storage.errors import StoreFailed, StoreFull, StoreUnusable
from kubevirt.base.errors import KubevirtError

_FINAL: Final = {
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_DIR_FSYNC,
    sqlite3.SQLITE_IOERR_CORRUPTFS,
}
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def meaning(error: sqlite3.Error, path: Path) -> KubevirtError:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    name: str = getattr(error, "sqlite_errorname", type(error).__name__)
    if _primary(code) == sqlite3.SQLITE_FULL:
        return StoreFull(
            f"the store {path} has no room for this write; free space on its disk, or delete objects"
        )
    if _primary(code) in _DAMAGED:
        return StoreFailed(
            f"the store {path} is damaged ({error}); stop the server and restore a backup",
            is_final=True,
        )
    if code in _FINAL:
        return StoreFailed(
            f"the disk under the store {path} failed to keep a write ({name}); look at the disk,"
            " then start the server again",
            is_final=True,
        )
    return StoreFailed(f"the store {path} could not be read or written ({name}: {error})")


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors come out as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise meaning(error, path) from error


def unusable(error: sqlite3.Error, path: Path) -> StoreUnusable:
    if _primary(getattr(error, "sqlite_errorcode", 0)) in _DAMAGED:
        return damaged(path, str(error))
    return StoreUnusable(f"the store {path} cannot be opened: {meaning(error, path)}")


def damaged(path: Path, what: str) -> StoreUnusable:
    return StoreUnusable(
        f"the store {path} is damaged ({what.splitlines()[-1]}); restore a backup of it, or move it away with its"
        f" {path.name}-wal to begin with an empty one"
    )


def _primary(code: int) -> int:
    """Extended codes carry the kind of error in their lowest byte."""
    return code & 0xFF
