"""Watches: every change below a prefix, from a revision on, once and in order.

A watch begins by reading the log, at the pace of whoever iterates it, until it has reached the present;
in that same step of the event loop it joins the live stream. So nothing falls between the two, and
nothing comes twice. From then on it has a buffer. Whoever lets it fill up is cut off: one slow client
must not hold the memory of all, and it can resume from the log.

Events go to watchers by reference, and those of one prefix share the very lists.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from kubevirt.apiserver.storage.errors import StoreClosed, WatcherTooSlow
from kubevirt.apiserver.storage.records import Event, Span
from kubevirt.base.errors import KubevirtError


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    buffer_events: int = 4096
    """Events that a watcher may leave untaken. Deleting a large collection makes thousands at once."""

    buffer_bytes: int = 16 << 20
    """Bytes of values, of now and before, in those events."""

    replay: int = 64
    """Revisions of the log read at once for a watch that begins in the past: about a millisecond."""


Replay = Callable[[Span, int], Awaitable[tuple[Sequence[Event], int]]]
"""Old events of a span behind a revision, and the revision up to which they are all.

Not all at once: a long past is read in turns with everybody else's work.
"""


class Watch:
    """Iterates over batches of events, for one reader. Ends by an error, or with its `with` block.

    An iteration that is cancelled loses nothing: the next one gives the same events.
    """

    def __init__(self, hub: "Hub", prefix: str, after: int, replay: Replay) -> None:
        self._hub = hub
        self._prefix = prefix
        self._span = Span.of(prefix)
        self._replay = replay
        self._told = after
        self._is_live = False
        self._buffer: deque[Sequence[Event]] = deque()
        self._buffered_events = self._buffered_bytes = 0
        self._error: KubevirtError | None = None
        self._is_closed = self._is_ending = False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def revision(self) -> int:
        """Up to here everything was handed out: what a bookmark says."""
        if self._is_live and not self._buffer and not self._error:
            return max(self._told, self._hub.revision)
        return self._told

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._leave()
        self._is_closed = True
        self._wake()

    def end(self) -> None:
        """Lets it end once it has told what has happened until now."""
        self._is_ending = True
        self._wake()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Sequence[Event]:
        while not self._is_closed:
            if self._error:
                raise self._error
            if events := self._take() if self._is_live else await self._read_past():
                return events
            if self._is_live:
                if self._is_ending:
                    self.close()
                    break
                await self._wait()
        raise StopAsyncIteration

    async def _read_past(self) -> Sequence[Event]:
        """The next old events. With the last of them, in the same step, it joins the living."""
        events: Sequence[Event] = ()
        if self._told < self._hub.revision:
            events, self._told = await self._replay(self._span, self._told)
        if self._told >= self._hub.revision and not self._is_closed:
            self._hub.join(self._prefix, self)
            self._is_live = True
        return events

    def _take(self) -> Sequence[Event]:
        if not self._buffer:
            return ()
        batches = list(self._buffer)
        self._buffer.clear()
        self._buffered_events = self._buffered_bytes = 0
        self._told = batches[-1][-1].revision
        if len(batches) == 1:
            return batches[0]
        return [event for batch in batches for event in batch]

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def offer(self, events: Sequence[Event], size: int) -> None:
        """Live events, by the hub."""
        if events[0].revision <= self._told:  # it was asked to begin in the future
            events = [event for event in events if event.revision > self._told]
            if not events:
                return
        self._buffer.append(events)
        self._buffered_events += len(events)
        self._buffered_bytes += size
        settings = self._hub.settings
        if (
            self._buffered_events > settings.buffer_events
            or self._buffered_bytes > settings.buffer_bytes
        ):
            self.fail(WatcherTooSlow(self._prefix, self._told))
        self._wake()

    def fail(self, error: KubevirtError) -> None:
        self._error = error
        self._leave()
        self._wake()

    def _leave(self) -> None:
        if self._is_live:
            self._hub.leave(self._prefix, self)
        self._is_live = False
        self._buffer.clear()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)


class Hub:
    """Who watches what. The work for an event depends on the depth of its key, not on the watchers."""

    def __init__(self, settings: WatchSettings, revision: int) -> None:
        self.settings = settings
        self.revision = revision
        """The newest that was published."""
        # Dicts stand for ordered sets: watchers hear of an event in the order in which they came.
        self._watches: dict[str, dict[Watch, None]] = {}
        self._is_closed = False

    def __len__(self) -> int:
        return sum(map(len, self._watches.values()))

    def join(self, prefix: str, watch: Watch) -> None:
        if self._is_closed:
            raise StoreClosed
        self._watches.setdefault(prefix, {})[watch] = None

    def leave(self, prefix: str, watch: Watch) -> None:
        watches = self._watches.get(prefix, {})
        watches.pop(watch, None)
        if not watches:
            self._watches.pop(prefix, None)

    def publish(self, events: Sequence[Event], revision: int) -> None:
        self.revision = revision
        for prefix, matching in self._by_prefix(events).items():
            size = sum(event.size for event in matching)
            for watch in list(self._watches[prefix]):
                watch.offer(matching, size)

    def close(self) -> None:
        self._is_closed = True
        for watches in list(self._watches.values()):
            for watch in list(watches):
                watch.fail(StoreClosed())

    def _by_prefix(self, events: Sequence[Event]) -> dict[str, list[Event]]:
        if not self._watches:
            return {}
        by_prefix: dict[str, list[Event]] = {}
        for event in events:
            for prefix in _prefixes(event.key):
                if prefix in self._watches:
                    by_prefix.setdefault(prefix, []).append(event)
        return by_prefix


def _prefixes(key: str) -> Iterator[str]:
    """Every prefix under which the key can be watched: its folders, and itself."""
    slash = key.find("/")
    while slash >= 0:
        yield key[: slash + 1]
        slash = key.find("/", slash + 1)
    yield key
