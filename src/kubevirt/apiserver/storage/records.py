"""The values of the store: entries, events, changes, pages.

All of them are immutable and shared: a hundred watchers hold one event and one copy of its bytes.
Keys are paths: they begin with `/` and do not end with it.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """A key as it was from one revision on."""

    key: str
    value: bytes
    revision: int
    created: int
    """The revision at which the key came to be."""


class Event(NamedTuple):
    """One change of one key."""

    revision: int
    key: str
    entry: Entry | None
    """What it is now; None if it was deleted."""
    previous: Entry | None
    """What it was before; None if it was created."""

    @property
    def size(self) -> int:
        """Bytes of values that this event keeps in memory."""
        return sum(len(each.value) for each in (self.entry, self.previous) if each)


class Change(NamedTuple):
    """What a write asks for: `key` has the state `expected` and shall have `value`.

    Each takes part in the decision; only what differs from what was expected becomes an event.
    """

    key: str
    expected: Entry | None
    """As the writer has read it from this store; None if there should be nothing. If it is still
    true, it is what the event tells as `previous`: so the store need not read it again."""
    value: bytes | None
    """None if there shall be nothing."""

    @classmethod
    def create(cls, key: str, value: bytes) -> "Change":
        check_key(key)
        return cls(key, None, value)

    @classmethod
    def update(cls, entry: Entry, value: bytes) -> "Change":
        return cls(entry.key, entry, value)

    @classmethod
    def delete(cls, entry: Entry) -> "Change":
        return cls(entry.key, entry, None)

    @classmethod
    def unchanged(cls, entry: Entry) -> "Change":
        """No change, only a condition for the others: the entry is still this one."""
        return cls(entry.key, entry, entry.value)

    @classmethod
    def absent(cls, key: str) -> "Change":
        """No change, only a condition for the others: there is no such key."""
        check_key(key)
        return cls(key, None, None)

    @property
    def expected_revision(self) -> int:
        return self.expected.revision if self.expected else 0

    @property
    def is_no_op(self) -> bool:
        return self.value == (self.expected.value if self.expected else None)


class Position(NamedTuple):
    """Where the next page of a list begins."""

    revision: int
    after: str
    """The last key of the page before."""
    remaining: int
    """How many entries are left from here on."""


class Page(NamedTuple):
    entries: list[Entry]
    revision: int
    """All of it, and the pages that follow, are the state at this revision."""
    next: Position | None


class Span(NamedTuple):
    """A range of keys, from `first` on and before `end`."""

    first: str
    end: str

    @classmethod
    def of(cls, prefix: str) -> "Span":
        """Everything below a prefix that ends with `/`, or the one key that it is."""
        if prefix.endswith("/"):
            return cls(prefix, prefix[:-1] + chr(ord("/") + 1))
        check_key(prefix)
        return cls(prefix, prefix + "\0")

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.first <= key < self.end


def check_key(key: str) -> None:
    if not key.startswith("/") or key.endswith("/") or "\0" in key:
        raise ValueError(f"{key!r} is no key: it must begin with a slash and not end with one")
