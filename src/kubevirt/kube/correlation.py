"""Which events are told, and which are only counted: client-go's three rules, without I/O.

- The same thing again is the same event with a higher count.
- Ten messages of one reason within ten minutes become one event, "combined from similar events".
- A source has a budget per object: a burst, then one event every five minutes.

An event is the same if object, type, reason and message are; similar if only the message differs.
Who writes them down is in `events.py`.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from kubevirt.api.core.references import ObjectReference

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

EventType = Literal["Normal", "Warning"]

COMBINED = "(combined from similar events): "


class CorrelationSettings(Struct, frozen=True, kw_only=True):
    """client-go's numbers: what a user of `kubectl describe` is used to."""

    similar_events: int = 10
    """From so many different messages of one reason on they are combined."""
    similar_within_s: float = 600.0
    """A pause of this length starts the counting of similar events anew."""
    burst: int = 25
    """Events about one object before the budget counts."""
    refill_s: float = 300.0
    """Seconds until the budget of an object allows one more."""
    remembered: int = 4096
    """Events, reasons and objects that are kept in mind, each; the longest unused is forgotten."""


@dataclass(frozen=True, slots=True)
class Happening:
    about: ObjectReference
    type: EventType
    reason: str
    message: str
    at: datetime


@dataclass(slots=True)
class Record:
    """One event as it should be on the server: the first and the latest time, and how often."""

    name: str
    about: ObjectReference
    type: EventType
    reason: str
    message: str
    first: datetime
    latest: datetime
    count: int = 0
    is_stored: bool = False
    """The server has it, so the next time its count is patched."""


class Correlator:
    def __init__(self, settings: CorrelationSettings) -> None:
        self._settings = settings
        self._records: _Recent[Hashable, Record] = _Recent(settings.remembered)
        self._similar: _Recent[Hashable, _Similar] = _Recent(settings.remembered)
        self._budgets: _Recent[Hashable, _Budget] = _Recent(settings.remembered)
        self._last_name = 0

    def correlate(self, happening: Happening, now: float) -> Record | None:
        """The event that tells of it, or None if it is only counted. `now` is monotonic."""
        thing = _identity(happening.about)
        kind = (*thing, happening.type, happening.reason)
        if self._is_one_of_many(kind, happening.message, now):
            key, message = kind, COMBINED + happening.message
        else:
            key = (*kind, happening.about.field_path, happening.message)
            message = happening.message
        record = self._records.get(key)
        if record is None:
            record = self._new_record(happening)
            self._records.put(key, record)
        record.count += 1
        record.message = message
        record.latest = happening.at
        return record if self._is_within_budget(thing, now) else None

    def _is_one_of_many(self, kind: Hashable, message: str, now: float) -> bool:
        similar = self._similar.get(kind)
        if similar is None or now - similar.latest > self._settings.similar_within_s:
            similar = _Similar(now)
            self._similar.put(kind, similar)
        similar.latest = now
        similar.messages[message] = None
        if len(similar.messages) < self._settings.similar_events:
            return False
        similar.messages.popitem(last=False)  # enough to know that the next one is too many
        return True

    def _is_within_budget(self, thing: Hashable, now: float) -> bool:
        settings = self._settings
        budget = self._budgets.get(thing)
        if budget is None:
            budget = _Budget(settings.burst, now)
            self._budgets.put(thing, budget)
        refilled = budget.left + (now - budget.at) / settings.refill_s
        budget.left, budget.at = min(refilled, settings.burst), now
        if budget.left < 1:
            return False
        budget.left -= 1
        return True

    def _new_record(self, happening: Happening) -> Record:
        # Names hold the time in nanoseconds; two in the same instant must still differ.
        nanoseconds = int(happening.at.timestamp() * 1e6) * 1000
        self._last_name = max(nanoseconds, self._last_name + 1)
        suffix = f".{self._last_name:x}"
        return Record(
            name=(happening.about.name or "")[: 253 - len(suffix)] + suffix,
            about=happening.about,
            type=happening.type,
            reason=happening.reason,
            message=happening.message,
            first=happening.at,
            latest=happening.at,
        )


@dataclass(slots=True)
class _Similar:
    """Different messages of one reason, lately."""

    latest: float
    messages: OrderedDict[str, None] = field(default_factory=OrderedDict)


@dataclass(slots=True)
class _Budget:
    """Events that may still be told of one object, as of `at`."""

    left: float
    at: float


class _Recent(Generic[K, V]):
    """A dict that forgets what was not used for the longest time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)


def _identity(about: ObjectReference) -> tuple[str | None, ...]:
    return about.kind, about.namespace, about.name, about.uid, about.api_version
