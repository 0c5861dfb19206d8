"""What is in the database, and how it came to be from version to version.

One table is the log: a row for each change, its revision is its rowid. There is no table of what is
now: it would make each write half as slow again, and the index finds the newest row of a key as fast.

A migration is a step from one version to the next. All steps that a database needs happen in one
transaction. Never change a step that was released; add one.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

APPLICATION_ID: Final = 0x6B766C67
"""`kvlg`, in the file's header: so that a stranger's database is not taken for a store."""

CREATE: Final = """
CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    created INTEGER NOT NULL,   -- the revision at which the key came to be
    previous INTEGER NOT NULL,  -- the revision that this one replaces, 0 for a new key
    deleted INTEGER NOT NULL,   -- 1 if the key ends here; then there is no value
    value BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX log_by_key ON log (key, revision, deleted);
CREATE TABLE compacted (revision INTEGER NOT NULL) STRICT;
INSERT INTO compacted VALUES (0);
"""

MIGRATIONS: Final[Sequence[str]] = (CREATE,)
"""The n-th makes version n+1 of version n; version 0 is an empty file."""

VERSION: Final = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> bool:
    """Brings the database to the newest version. False if it was there already."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version >= len(migrations):
        return False
    script = "".join(
        [
            "BEGIN IMMEDIATE;",
            *migrations[version:],
            f"PRAGMA application_id = {APPLICATION_ID};",
            f"PRAGMA user_version = {len(migrations)};",
            "COMMIT;",
        ]
    )
    try:
        connection.executescript(script)
    except sqlite3.Error:
        if connection.in_transaction:
            connection.rollback()
        raise
    return True
