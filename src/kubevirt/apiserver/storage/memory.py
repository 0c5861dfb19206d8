"""The log in memory: for simulations under virtual time, which have neither threads nor disks.

    disk = MemoryDisk()
    async with memory_store(disk, clock=clock) as store: ...      # a process
    async with memory_store(disk, clock=clock) as store: ...      # the next one, after its crash

It passes the same tests as the one on disk. A fault is an error put into `disk.fault`: writes are
refused with it for as long as it is there.
"""

import asyncio
from bisect import bisect_left, bisect_right, insort
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kubevirt.apiserver.storage.deciding import advance, decide
from kubevirt.apiserver.storage.errors import StoreFailed
from kubevirt.apiserver.storage.log import Batch, Publish, Ticket
from kubevirt.apiserver.storage.records import Entry, Event, Span
from kubevirt.apiserver.storage.store import Store, StoreSettings
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError


class MemoryDisk:
    """What survives a process."""

    def __init__(self) -> None:
        self.fault: KubevirtError | None = None
        self.revision = 0
        self.compacted = 0
        self.events: dict[int, Event] = {}
        self.revisions: dict[str, list[int]] = {}
        """Of each key, in order."""
        self.keys: list[str] = []
        """In order."""

    def append(self, event: Event) -> None:
        self.events[event.revision] = event
        if event.key not in self.revisions:
            insort(self.keys, event.key)
        self.revisions.setdefault(event.key, []).append(event.revision)
        self.revision = event.revision

    def forget(self, event: Event) -> None:
        del self.events[event.revision]
        revisions = self.revisions[event.key]
        revisions.remove(event.revision)
        if not revisions:
            del self.revisions[event.key]
            del self.keys[bisect_left(self.keys, event.key)]


@asynccontextmanager
async def memory_store(
    disk: MemoryDisk, *, clock: Clock, settings: StoreSettings | None = None
) -> AsyncIterator[Store]:
    store = Store(MemoryLog(disk), clock=clock, settings=settings or StoreSettings())
    async with store.running():
        yield store


class MemoryLog:
    failure: StoreFailed | None = None

    def __init__(self, disk: MemoryDisk) -> None:
        self._disk = disk
        self._waiting: list[Ticket] = []
        self._heads: dict[str, int] = {}
        advance(self._heads, disk.events.values())
        self.revision = disk.revision
        self.compacted = disk.compacted

    def start(self, publish: Publish) -> None:
        self._publish = publish
        self._loop = asyncio.get_running_loop()

    def submit(self, ticket: Ticket) -> None:
        if not self._waiting:
            self._loop.call_soon(self._commit)
        self._waiting.append(ticket)

    def _commit(self) -> None:
        tickets, self._waiting = self._waiting, []
        disk = self._disk
        if disk.fault:
            refused = [(ticket, disk.fault) for ticket in tickets]
            self._publish(Batch(disk.revision, [], [*refused]))
            return
        batch = decide(tickets, self._heads, disk.revision, self._at)
        for event in batch.events:
            disk.append(event)
        advance(self._heads, batch.events)
        self._publish(batch)

    def _at(self, revision: int) -> Entry:
        entry = self._disk.events[revision].entry
        if entry is None:
            raise AssertionError(f"revision {revision} is a deletion and no head")
        return entry

    def get(self, key: str, at: int) -> Entry | None:
        revisions = self._disk.revisions.get(key, [])
        newest = bisect_right(revisions, at) - 1
        return self._disk.events[revisions[newest]].entry if newest >= 0 else None

    def entries(
        self, span: Span, after: str, at: int, limit: int
    ) -> tuple[list[Entry], str | None]:
        keys = self._keys(span, after)[:limit]
        entries = [entry for key in keys if (entry := self.get(key, at))]
        return entries, keys[-1] if len(keys) == limit else None

    async def count(self, span: Span, after: str, at: int) -> int:
        return sum(1 for key in self._keys(span, after) if self.get(key, at))

    def _keys(self, span: Span, after: str) -> list[str]:
        keys = self._disk.keys
        return keys[bisect_right(keys, max(after, span.first)) : bisect_left(keys, span.end)]

    def events(self, span: Span, after: int, upto: int) -> tuple[list[Event], int]:
        known = (self._disk.events.get(each) for each in range(after + 1, upto + 1))
        return [event for event in known if event and event.key in span], upto

    async def compact(self, floor: int) -> None:
        disk = self._disk
        if disk.fault:
            raise disk.fault
        for revision in range(disk.compacted + 1, floor + 1):
            event = disk.events.get(revision)
            if event and event.previous:
                disk.forget(disk.events[event.previous.revision])
            if event and not event.entry:
                disk.forget(event)
        disk.compacted = max(disk.compacted, floor)

    async def close(self) -> None:
        if self._waiting:
            self._commit()
