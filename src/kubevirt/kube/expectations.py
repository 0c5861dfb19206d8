"""Expectations: what a controller did and its cache does not show yet.

A cache lags behind the server. A controller that created a child and looks again too early sees
none and creates a second; so it asks first whether the cache has caught up with its own doing:

    if (wait_s := expectations.remaining_s(key)) > 0:
        return After(wait_s)
    with expectations.creation(key) as creation:
        pod = await client.create(PODS, manifest)
        creation.uid = pod.metadata.uid

Children are told apart by UID, so that the cache must show exactly those that were made, and nothing
that others do can be mistaken for it. The watch may be faster than the answer to the create: what
appears while a creation is under way is remembered until its UID is known.

If a create ends without an answer (a lost connection, a cancelled reconcile), nobody knows whether
the child exists. Then a new child of that owner settles it, or `doubt_s` without one. A child that
never appears, because it was gone before a list could show it, is given up after `limit_s`.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.kube.cache.store import Change, Metadata
from kubevirt.kube.errors import Conflict, Refused, TooManyRequests

K = TypeVar("K", bound=Hashable)

log = get_logger(__name__)

_REFUSALS = (Refused, Conflict, TooManyRequests)
"""Answers that prove that nothing was created."""


class ExpectationSettings(Struct, frozen=True, kw_only=True):
    limit_s: float = 300.0
    """When a child that was surely made, or deleted, but never seen so, is given up. KubeVirt's."""
    doubt_s: float = 30.0
    """How long to wait for a child that may have been made. A watch shows it within a second; this
    is for a server that was away and is followed again."""


class Mortal(Metadata, Protocol):
    @property
    def deletion_timestamp(self) -> datetime | None: ...


class Child(Protocol):
    """An object of which an owner makes and deletes many."""

    @property
    def metadata(self) -> Mortal: ...


C = TypeVar("C", bound=Child)


@dataclass(slots=True)
class Creation:
    """One create under way. Say its UID as soon as the server has answered."""

    uid: str = ""


@dataclass(slots=True)
class _Awaited:
    """What is outstanding for one owner, each with the time at which it is given up."""

    creations: dict[str, float] = field(default_factory=dict)
    deletions: dict[str, float] = field(default_factory=dict)
    doubts: list[float] = field(default_factory=list)
    under_way: int = 0
    appeared: set[str] = field(default_factory=set)
    """UIDs of children that nobody expected, seen while a creation was under way."""

    def is_empty(self) -> bool:
        return not (self.creations or self.deletions or self.doubts or self.under_way)


class Expectations(Generic[K]):
    def __init__(self, clock: Clock, settings: ExpectationSettings | None = None) -> None:
        self._clock = clock
        self._settings = settings or ExpectationSettings()
        self._owners: dict[K, _Awaited] = {}

    def remaining_s(self, owner: K) -> float:
        """Seconds until `owner` may act even if nothing appears; 0 when the cache has caught up."""
        awaited = self._owners.get(owner)
        if awaited is None:
            return 0.0
        self._give_up_what_is_late(owner, awaited)
        ends = [*awaited.creations.values(), *awaited.deletions.values(), *awaited.doubts]
        if awaited.under_way:
            return self._settings.doubt_s
        return max(ends) - self._clock.monotonic() if ends else 0.0

    def are_met(self, owner: K) -> bool:
        return self.remaining_s(owner) == 0

    def forget(self, owner: K) -> None:
        """The owner is gone, and its children are somebody else's concern."""
        self._owners.pop(owner, None)

    @contextmanager
    def creation(self, owner: K) -> Iterator[Creation]:
        """Around the create of one child."""
        awaited = self._owners.setdefault(owner, _Awaited())
        awaited.under_way += 1
        creation = Creation()
        is_refused = False
        try:
            yield creation
        except _REFUSALS:
            is_refused = True
            raise
        finally:
            awaited.under_way -= 1
            if not is_refused:
                self._settle(creation, awaited)
            self._tidy(owner, awaited)

    @contextmanager
    def deletion(self, owner: K, uid: str) -> Iterator[None]:
        """Around the delete of one child. If it fails, nothing is expected: deleting twice is safe."""
        awaited = self._owners.setdefault(owner, _Awaited())
        awaited.deletions[uid] = self._clock.monotonic() + self._settings.limit_s
        try:
            yield
        except BaseException:
            awaited.deletions.pop(uid, None)
            self._tidy(owner, awaited)
            raise

    def followed_by(
        self, trigger: Callable[[Change[C]], Iterable[K]]
    ) -> Callable[[Change[C]], Iterable[K]]:
        """`trigger` for the children, which also lets the expectations of their owners know."""

        def observe_first(change: Change[C]) -> Iterable[K]:
            owners = list(trigger(change))
            for owner in owners:
                self.observe(owner, change)
            return owners

        return observe_first

    def observe(self, owner: K, change: Change[C]) -> None:
        """To be called for every change of a child, before its owner is added to a queue."""
        awaited = self._owners.get(owner)
        if awaited is None:
            return
        child = change.object.metadata
        if change.is_added:
            self._appear(child.uid, awaited)
        if change.is_deleted or child.deletion_timestamp is not None:
            awaited.creations.pop(child.uid, None)
            awaited.deletions.pop(child.uid, None)
        self._tidy(owner, awaited)

    def _appear(self, uid: str, awaited: _Awaited) -> None:
        if awaited.creations.pop(uid, None) is not None:
            return
        if awaited.under_way:
            awaited.appeared.add(uid)
        elif awaited.doubts:
            awaited.doubts.pop()

    def _settle(self, creation: Creation, awaited: _Awaited) -> None:
        now = self._clock.monotonic()
        if not creation.uid:
            awaited.doubts.append(now + self._settings.doubt_s)
        elif creation.uid in awaited.appeared:
            awaited.appeared.remove(creation.uid)
        else:
            awaited.creations[creation.uid] = now + self._settings.limit_s

    def _give_up_what_is_late(self, owner: K, awaited: _Awaited) -> None:
        now = self._clock.monotonic()
        for kind, uids in (("creation", awaited.creations), ("deletion", awaited.deletions)):
            for uid in [uid for uid, end in uids.items() if end <= now]:
                del uids[uid]
                log.warning("expected change never appeared", owner=str(owner), kind=kind, uid=uid)
        awaited.doubts = [end for end in awaited.doubts if end > now]
        self._tidy(owner, awaited)

    def _tidy(self, owner: K, awaited: _Awaited) -> None:
        if not awaited.under_way:
            # Every answer is there, so what appeared and was claimed by none settles doubts.
            del awaited.doubts[: len(awaited.appeared)]
            awaited.appeared.clear()
        if awaited.is_empty() and self._owners.get(owner) is awaited:
            del self._owners[owner]
