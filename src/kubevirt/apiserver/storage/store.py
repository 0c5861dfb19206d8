"""The store, as the API server sees it.

The present is what was published, in the event loop, by the log's writer after it was durable. Reads,
lists and watches all refer to that one revision, so that they agree: no read shows what a watch has
yet to tell, and what was acknowledged is seen by every read that begins afterwards.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kubevirt.apiserver.storage.arrivals import Arrivals
from kubevirt.apiserver.storage.errors import (
    Compacted,
    FutureRevision,
    StoreClosed,
    StoreFailed,
    ValueTooLarge,
)
from kubevirt.apiserver.storage.log import Batch, Events, Log, Ticket
from kubevirt.apiserver.storage.records import Change, Entry, Event, Page, Position, Span
from kubevirt.apiserver.storage.retention import Retention, RetentionSettings
from kubevirt.apiserver.storage.watching import Hub, Watch, WatchSettings
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background

log = get_logger(__name__)

CHANGES_LIMIT = 1000
"""In one ticket."""
VALUE_LIMIT = 3 << 19
"""Bytes of one value: etcd's, one and a half megabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    chunk: int = 64
    """Keys that a list reads before others get their turn: about half a millisecond."""

    retention: RetentionSettings = field(default_factory=RetentionSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)


class Store:
    def __init__(self, kept: Log, *, clock: Clock, settings: StoreSettings) -> None:
        self._log = kept
        self._clock = clock
        self._settings = settings
        self._hub = Hub(settings.watch, kept.revision)
        self._arrivals = Arrivals()
        self._compacted = kept.compacted
        self._is_closed = False
        # One long read at a time: however many there are, whatever else waits for the event loop
        # waits for one piece of one of them.
        self._turns = asyncio.Lock()
        kept.start(self._publish)

    @property
    def revision(self) -> int:
        """The present."""
        return self._hub.revision

    @property
    def compacted(self) -> int:
        """The oldest revision that can still be listed, and watched from."""
        return self._compacted

    @property
    def failure(self) -> StoreFailed | None:
        """Why no more writes are taken until a restart: what a readiness check asks."""
        return self._log.failure

    @property
    def watchers(self) -> int:
        return len(self._hub)

    # Reading

    async def get(self, key: str, *, at: int | None = None) -> Entry | None:
        """As it is, or as it was at a revision of the past."""
        revision = self._known(at)
        self._check_kept(revision)
        return self._log.get(key, revision)

    async def list(
        self,
        prefix: str,
        *,
        limit: int = 0,
        at: int | None = None,
        start: Position | None = None,
    ) -> Page:
        """What is below `prefix`, in order of the keys; `limit` 0 means all.

        `at` is a revision of the past, `start` what the page before said comes next.
        """
        revision = start.revision if start else self._known(at)
        after = start.after if start else prefix
        entries: list[Entry] = []
        async for chunk in self._chunks(Span.of(prefix), after, revision):
            entries += chunk
            if limit and len(entries) > limit:
                break
        if not limit or len(entries) <= limit:
            return Page(entries, revision, None)
        del entries[limit:]
        remaining = start.remaining - limit if start else 0
        if not start:
            remaining = await self.count(prefix, after=entries[-1].key, at=revision)
        return Page(entries, revision, Position(revision, entries[-1].key, remaining))

    async def scan(
        self, prefix: str, *, at: int | None = None, after: str = ""
    ) -> AsyncIterator[Sequence[Entry]]:
        """Like a list without limit, in pieces that need not be in memory together.

        `after` is the key behind which it begins. None of the pieces is empty.
        """
        async for chunk in self._chunks(Span.of(prefix), after or prefix, self._known(at)):
            yield chunk

    async def count(self, prefix: str, *, after: str, at: int) -> int:
        """How many are behind a key."""
        found = await self._log.count(Span.of(prefix), after, at)
        self._check_kept(at)
        return found

    async def _chunks(self, span: Span, after: str, at: int) -> AsyncIterator[Sequence[Entry]]:
        position: str | None = after
        while position is not None:
            async with self._turns:
                # Each time anew: while others had their turn, this may have been forgotten.
                self._check_kept(at)
                chunk, position = self._log.entries(span, position, at, self._settings.chunk)
                if position is not None:
                    await asyncio.sleep(0)
            if chunk:
                yield chunk

    async def reach(self, revision: int) -> None:
        """Waits until this revision is the present or the past."""
        self._check_open()
        if revision > self.revision:
            await self._arrivals.wait(revision)

    # Writing

    async def create(self, key: str, value: bytes) -> Entry:
        (event,) = await self.write(Change.create(key, value))
        if event is None or event.entry is None:
            raise AssertionError(f"{key} was created and is not there")
        return event.entry

    async def update(self, entry: Entry, value: bytes) -> Entry:
        """`entry` is what was read and shall be replaced. The same value again changes nothing."""
        (event,) = await self.write(Change.update(entry, value))
        return event.entry if event and event.entry else entry

    async def delete(self, entry: Entry) -> int:
        """The revision at which it was deleted."""
        (event,) = await self.write(Change.delete(entry))
        return event.revision if event else entry.revision

    async def write(self, *changes: Change) -> Events:
        """All of the changes, on different keys, or none: `Conflict` names the first that cannot be.

        What was returned is on disk. Whoever is cancelled while waiting does not know.
        """
        self._check_open()
        if len({change.key for change in changes}) < len(changes):
            raise ValueError("a key can be changed only once in one write")
        if not 0 < len(changes) <= CHANGES_LIMIT:
            raise ValueError(f"a write has between 1 and {CHANGES_LIMIT} changes")
        for change in changes:
            if change.value and len(change.value) > VALUE_LIMIT and not change.is_no_op:
                raise ValueTooLarge(change.key, len(change.value), VALUE_LIMIT)
        outcome: asyncio.Future[Events] = asyncio.get_running_loop().create_future()
        self._log.submit(Ticket(changes, outcome))
        return await outcome

    def _publish(self, batch: Batch) -> None:
        self._hub.publish(batch.events, batch.revision)
        self._arrivals.reach(batch.revision)
        for ticket, outcome in batch.outcomes:
            if ticket.outcome.done():  # whoever waited was cancelled
                continue
            if isinstance(outcome, KubevirtError):
                ticket.outcome.set_exception(outcome)
            else:
                ticket.outcome.set_result(outcome)

    # Watching

    def watch(self, prefix: str, *, after: int | None = None) -> Watch:
        """All changes below `prefix`, or of the key that it is, behind a revision or from now on.

        A revision of the future is waited for.
        """
        self._check_open()
        start = self.revision if after is None else after
        self._check_kept(start)
        return Watch(self._hub, prefix, start, self._replay)

    async def _replay(self, span: Span, after: int) -> tuple[Sequence[Event], int]:
        async with self._turns:
            await asyncio.sleep(0)
            self._check_kept(after)
            upto = min(after + self._settings.watch.replay, self.revision)
            return self._log.events(span, after, upto)

    # The past

    def _known(self, at: int | None) -> int:
        if at is None:
            return self.revision
        if at > self.revision:
            raise FutureRevision(at, self.revision)
        return at

    def _check_kept(self, revision: int) -> None:
        self._check_open()
        if revision < self._compacted:
            raise Compacted(revision, self._compacted)

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreClosed

    async def compact(self, floor: int) -> None:
        """Forgets the past before `floor`, in small steps."""
        while self._compacted < min(floor, self.revision):
            step = min(self._compacted + self._settings.retention.step, floor, self.revision)
            # First nobody may read it any more, then it goes.
            self._compacted = step
            await self._log.compact(step)
            await self._clock.sleep(self._settings.retention.pause_s)

    async def _forget(self) -> None:
        """Compacts what retention no longer keeps. An idle store has nothing to forget."""
        settings = self._settings.retention
        retention = Retention(settings, self._clock.monotonic(), self.revision)
        while True:
            await self._clock.sleep(settings.look_every_s)
            try:
                await self.compact(retention.floor(self._clock.monotonic(), self.revision))
            except Retry as error:
                log.warning("the past could not be forgotten", error=error)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Store"]:
        """Compacts beside the body, and closes the store when it ends."""
        try:
            async with background(self._forget()):
                yield self
        finally:
            self._is_closed = True
            self._hub.close()
            self._arrivals.close()
            await self._log.close()
