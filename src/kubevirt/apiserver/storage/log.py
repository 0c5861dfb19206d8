"""What a store stands on: a log of changes that someone keeps.

`sqlite/` keeps it on disk and `memory.py` does not; both pass the same tests. The rules between a log
and its store, which lives in the event loop:

- Writes are tickets. A log decides them in order, in batches of its own making (`deciding.py`), and
  publishes each batch in the loop's thread when it is as durable as it will ever be.
- Reads are plain calls, small enough for the loop to wait for them: they say how much they want and
  up to which revision, and never see more than was published.
- The store never asks for less than what it had compacted, so a log need not check.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Protocol

from kubevirt.apiserver.storage.errors import StoreFailed
from kubevirt.apiserver.storage.records import Change, Entry, Event, Span
from kubevirt.base.errors import KubevirtError


class Ticket(NamedTuple):
    """Changes that happen together or not at all, and who waits for them."""

    changes: tuple[Change, ...]
    outcome: asyncio.Future["Events"]

    @property
    def size(self) -> int:
        return sum(len(change.value) for change in self.changes if change.value)

    @property
    def only_deletes(self) -> bool:
        return all(change.value is None or change.is_no_op for change in self.changes)


Events = tuple[Event | None, ...]
"""One for each change of a ticket; None where nothing had to change."""


class Batch(NamedTuple):
    """What became of some tickets."""

    revision: int
    """The newest, after this batch."""
    events: list[Event]
    outcomes: list[tuple[Ticket, Events | KubevirtError]]


Publish = Callable[[Batch], None]


class Log(Protocol):
    @property
    def revision(self) -> int:
        """The newest revision when the log was opened."""
        ...

    @property
    def compacted(self) -> int:
        """The oldest revision that was still whole when the log was opened."""
        ...

    @property
    def failure(self) -> StoreFailed | None:
        """Why no more writes are taken until a restart."""
        ...

    def start(self, publish: Publish) -> None:
        """Called once, before any ticket, in the loop that `publish` shall be called in."""
        ...

    def submit(self, ticket: Ticket) -> None: ...

    def get(self, key: str, at: int) -> Entry | None: ...

    def entries(
        self, span: Span, after: str, at: int, limit: int
    ) -> tuple[list[Entry], str | None]:
        """Entries of at most `limit` keys behind `after`, in order of their keys.

        A key that is deleted counts but is not among them, so the work is bounded by `limit` and
        not by what it finds; large values end it earlier. Also the key to go on behind, or None at
        the end.
        """
        ...

    async def count(self, span: Span, after: str, at: int) -> int:
        """How many entries are behind `after`."""
        ...

    def events(self, span: Span, after: int, upto: int) -> tuple[list[Event], int]:
        """Also the revision up to which they are all: `upto`, or less where values are large."""
        ...

    async def compact(self, floor: int) -> None:
        """Forgets what was replaced or deleted at `floor` or before."""
        ...

    async def close(self) -> None:
        """Decides what was submitted, then lets go of everything."""
        ...
