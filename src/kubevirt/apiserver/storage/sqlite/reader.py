"""Reading the log. Every call is one statement, which ends with it: no snapshot is ever left open."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from kubevirt.apiserver.storage.records import Entry, Event, Span
from kubevirt.apiserver.storage.sqlite.failures import told

MOST_BYTES: Final = 1 << 20
"""Of values, after which a read ends: what is large comes in small pieces."""

_GET: Final = """
SELECT key, value, revision, created, deleted FROM log
WHERE key = ? AND revision <= ? ORDER BY revision DESC LIMIT 1
"""

# From key to key, and for each only its newest row in question: old versions of a busy key cost
# nothing. SQLite has no such scan of its own; the recursion is one, its LIMIT bounds the work.
_ENTRIES: Final = """
WITH RECURSIVE keys (key) AS (
    SELECT min(key) FROM log WHERE key > :after AND key < :end
    UNION ALL
    SELECT (SELECT min(key) FROM log WHERE key > keys.key AND key < :end)
    FROM keys WHERE keys.key IS NOT NULL
    LIMIT :limit
)
SELECT keys.key, log.value, log.revision, log.created, log.deleted
FROM keys LEFT JOIN log ON log.revision =
    (SELECT max(revision) FROM log WHERE key = keys.key AND revision <= :at)
WHERE keys.key IS NOT NULL
"""

_COUNT: Final = """
SELECT count(*) FROM (
    SELECT max(revision), deleted FROM log
    WHERE key > :after AND key < :end AND revision <= :at GROUP BY key
) WHERE NOT deleted
"""

# The plus keeps SQLite from looking at the index on keys: rows come in the order of revisions.
_EVENTS: Final = """
SELECT log.revision, log.key, log.value, log.created, log.deleted, log.previous, before.value
FROM log LEFT JOIN log AS before ON before.revision = log.previous
WHERE log.revision > ? AND log.revision <= ? AND +log.key >= ? AND +log.key < ?
ORDER BY log.revision
"""


class Reader:
    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def get(self, key: str, at: int) -> Entry | None:
        with told(self._path):
            row = self._connection.execute(_GET, (key, at)).fetchone()
        return Entry(*row[:4]) if row and not row[4] else None

    def entries(
        self, span: Span, after: str, at: int, limit: int
    ) -> tuple[list[Entry], str | None]:
        bounds = {"after": max(after, span.first), "end": span.end, "at": at, "limit": limit}
        entries: list[Entry] = []
        count = size = 0
        with told(self._path), closing(self._connection.execute(_ENTRIES, bounds)) as rows:
            for key, value, revision, created, deleted in rows:
                count += 1
                if deleted == 0:  # not None either: such a key came to be later
                    entries.append(Entry(key, value, revision, created))
                    size += len(value)
                if count == limit or size >= MOST_BYTES:
                    return entries, key
        return entries, None

    def count(self, span: Span, after: str, at: int) -> int:
        bounds = {"after": max(after, span.first), "end": span.end, "at": at}
        with told(self._path):
            (count,) = self._connection.execute(_COUNT, bounds).fetchone()
        return int(count)

    def events(self, span: Span, after: int, upto: int) -> tuple[list[Event], int]:
        bounds = (after, upto, *span)
        events: list[Event] = []
        size = 0
        with told(self._path), closing(self._connection.execute(_EVENTS, bounds)) as rows:
            for row in rows:
                event = _event(*row)
                events.append(event)
                size += event.size
                if size >= MOST_BYTES:
                    return events, event.revision
        return events, upto

    def close(self) -> None:
        self._connection.close()


def _event(
    revision: int,
    key: str,
    value: bytes,
    created: int,
    deleted: int,
    previous: int,
    before: bytes | None,
) -> Event:
    entry = None if deleted else Entry(key, value, revision, created)
    replaced = None if before is None else Entry(key, before, previous, created)
    return Event(revision, key, entry, replaced)
