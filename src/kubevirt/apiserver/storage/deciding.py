"""Who wins: the decision over a batch of writes, as a pure function.

Tickets are decided one after the other, each against what the ones before it made of the keys. So a
batch gives the same result as its tickets one by one, and a ticket with several conditions is atomic.
Nobody hears of a decision before the batch is durable: a refusal, too, tells of what others wrote.
"""

from collections.abc import Callable, Iterable, Mapping

from kubevirt.apiserver.storage.errors import Conflict
from kubevirt.apiserver.storage.log import Batch, Events, Ticket
from kubevirt.apiserver.storage.records import Change, Entry, Event
from kubevirt.base.errors import KubevirtError


def decide(
    tickets: Iterable[Ticket],
    heads: Mapping[str, int],
    revision: int,
    read: Callable[[int], Entry],
) -> Batch:
    """`heads` has the revision of each key that exists; `read` gives the entry at such a revision."""
    decision = _Decision(heads, revision, read)
    outcomes = [(ticket, decision.on(ticket)) for ticket in tickets]
    return Batch(decision.revision, decision.events, outcomes)


class _Decision:
    def __init__(
        self, heads: Mapping[str, int], revision: int, read: Callable[[int], Entry]
    ) -> None:
        self.revision = revision
        self.events: list[Event] = []
        self._heads = heads
        self._read = read
        self._changed: dict[str, Entry | None] = {}

    def on(self, ticket: Ticket) -> Events | KubevirtError:
        for change in ticket.changes:
            if self._head(change.key) != change.expected_revision:
                return Conflict(change.key, self._current(change.key))
        return tuple(None if each.is_no_op else self._apply(each) for each in ticket.changes)

    def _apply(self, change: Change) -> Event:
        self.revision += 1
        entry = None
        if change.value is not None:
            created = change.expected.created if change.expected else self.revision
            entry = Entry(change.key, change.value, self.revision, created)
        event = Event(self.revision, change.key, entry, change.expected)
        self._changed[change.key] = entry
        self.events.append(event)
        return event

    def _head(self, key: str) -> int:
        if key in self._changed:
            entry = self._changed[key]
            return entry.revision if entry else 0
        return self._heads.get(key, 0)

    def _current(self, key: str) -> Entry | None:
        if key in self._changed:
            return self._changed[key]
        return self._read(self._heads[key]) if key in self._heads else None


def advance(heads: dict[str, int], events: Iterable[Event]) -> None:
    """Makes `heads` what it is after the batch."""
    for event in events:
        if event.entry:
            heads[event.key] = event.revision
        else:
            heads.pop(event.key, None)
