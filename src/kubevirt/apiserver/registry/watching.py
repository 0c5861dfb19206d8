"""watch: every change of what a selector picks, from a version on.

What happens to an object is not always what a watcher sees: one that enters the sight of a selector was
added for it, one that leaves was deleted. Looking at an event is done once for all watchers.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from kubevirt.apiserver import refusals
from kubevirt.apiserver.registry import options, reading, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.selectors import Selection
from kubevirt.apiserver.storage.errors import Compacted
from kubevirt.apiserver.storage.records import Entry, Event
from kubevirt.apiserver.storage.watching import Watch

LAST_BOOKMARK_S: Final = 2.0
"""Before the end of a watch; kube-apiserver's."""
REMEMBERED_BYTES: Final = 1 << 20
"""Of events whose objects are kept decoded, so that watchers with selectors share the work. Decoded they
take several times as much."""


class Sight(msgspec.Struct, frozen=True):
    """What a watcher sees: a type, and an object as it is stored with the revision to show."""

    type: str
    value: bytes
    revision: int


class Mark(msgspec.Struct, frozen=True):
    """A bookmark: up to here everything was told."""

    revision: int
    is_end_of_initial: bool = False


class Looked:
    """Objects of events, decoded once."""

    def __init__(self) -> None:
        self._objects: dict[int, tuple[int, dict[str, Any]]] = {}
        self._bytes = 0

    def at(self, entry: Entry) -> dict[str, Any]:
        known = self._objects.get(entry.revision)
        if known is not None:
            return known[1]
        size = len(entry.value)
        found = stored.object_of(entry, "")
        self._objects[entry.revision] = size, found
        self._bytes += size
        while self._bytes > REMEMBERED_BYTES:
            oldest = next(iter(self._objects))
            self._bytes -= self._objects.pop(oldest)[0]
        return found


class Watching:
    """One watch: first what there is, if that was asked for, then what changes."""

    def __init__(
        self, registry: Registry, call: Call, looked: Looked, *, bookmark_every_s: float
    ) -> None:
        self.options = options.of_list(call)
        self._registry = registry
        self._call = call
        self._looked = looked
        self._bookmark_every_s = bookmark_every_s
        self._selection = Selection(
            call.kind, call.version, self.options.labels, self.options.fields
        )

    @property
    def _begins_with_all(self) -> bool:
        wanted = self.options
        if wanted.initial_events is not None:
            return wanted.initial_events
        return not wanted.resource_version

    async def sights(self, deadline: float) -> AsyncIterator[Sequence[Sight | Mark]]:
        """In batches, as they come; who takes them will not do so beyond the deadline."""
        wanted, store = self.options, self._registry.store
        after = wanted.resource_version or store.revision
        if self._begins_with_all:
            if wanted.resource_version:
                await reading.reach(self._registry, wanted.resource_version)
            after = store.revision
            async for chunk in store.scan(self._call.prefix, at=after):
                yield [
                    Sight("ADDED", entry.value, entry.revision)
                    for entry in chunk
                    if self._picks(entry)
                ]
            if wanted.initial_events:
                yield [Mark(after, is_end_of_initial=True)]
        async for batch in self._changes(after, deadline):
            yield batch

    async def _changes(self, after: int, deadline: float) -> AsyncIterator[list[Sight | Mark]]:
        wanted, clock = self.options, self._registry.clock
        due = self._next_bookmark(deadline)
        try:
            with self._while_served(after) as watch:
                while True:
                    seen: list[Sight | Mark] = []
                    try:
                        async with clock.timeout(max(due - clock.monotonic(), 0)):
                            seen += self._seen(await anext(watch))
                    except StopAsyncIteration:
                        return
                    except TimeoutError:
                        due = self._next_bookmark(deadline)
                        # Whoever has heard of nothing since is where it was.
                        if wanted.bookmarks and watch.revision > after:
                            seen.append(Mark(watch.revision))
                    if seen:
                        yield seen
        except Compacted as gone:
            version = wanted.resource_version or after
            raise refusals.forgotten_version(version, gone.oldest) from gone

    def _next_bookmark(self, deadline: float) -> float:
        """Every minute, and right before the end: whoever watches again goes on where this one ended."""
        now = self._registry.clock.monotonic()
        regular, last = now + self._bookmark_every_s, deadline - LAST_BOOKMARK_S
        return min(regular, last) if last > now else regular

    @contextmanager
    def _while_served(self, after: int) -> Iterator[Watch]:
        """Ends with the kind: clients shall ask again what there is, and hear that there is nothing."""
        catalog, kind = self._registry.catalog, self._call.kind
        with self._registry.store.watch(self._call.prefix, after=after) as watch:

            def look() -> None:
                if not catalog.serves(kind):
                    watch.end()

            with catalog.followed(look):
                look()
                yield watch

    def _picks(self, entry: Entry | None) -> bool:
        if entry is None:
            return False
        return self._selection.is_everything or self._looked.at(entry) in self._selection

    def _seen(self, events: Sequence[Event]) -> Iterator[Sight]:
        for event in events:
            now, before = event.entry, event.previous
            is_seen, was_seen = self._picks(now), self._picks(before)
            if is_seen and now:
                yield Sight("MODIFIED" if was_seen else "ADDED", now.value, event.revision)
            elif was_seen and before:
                # As it was when it was last seen, at the version at which it went.
                yield Sight("DELETED", before.value, event.revision)
