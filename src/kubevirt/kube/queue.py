"""Work queue: each key is handled by one worker at a time, and never lost.

Keys are handed out in the order they came. A key added again while it waits is still one key; added
while a worker has it, it runs once more afterwards, at the end of the line, so that one busy key
cannot starve the others. `add_after` brings a key back later and `retry` does so with growing waits
(`backoff.py`). Who fills and empties the queue is in `controller.py`.

Nothing runs in the background: whoever waits in `get` also watches the clock for the next delay, and
every call first moves keys whose time has come. So there is no task or timer per key, and nothing
to start or stop.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import suppress
from itertools import count
from math import inf
from typing import Generic, TypeVar

from kubevirt.base.clock import Clock
from kubevirt.kube.backoff import BackoffSettings, KeyedBackoff
from kubevirt.kube.histogram import Histogram, exponential

K = TypeVar("K", bound=Hashable)

_DURATION_BUCKETS_S = exponential(10e-9, 10, 10)
"""Ten nanoseconds to ten seconds: the edges that dashboards made for KubeVirt expect."""

_TIMER_SLACK_S = 2e-6
"""A loop may fire a timer a tick of its clock early; what is due within this counts as due."""


class QueueClosed(Exception):  # noqa: N818  # the end of the work, not a failure
    """The queue is closed and everything in it was handed out."""


class WorkQueue(Generic[K]):
    def __init__(
        self,
        name: str,
        clock: Clock,
        *,
        backoff: KeyedBackoff[K] | None = None,
    ) -> None:
        self.name = name
        """The label of its metrics."""
        self.adds = 0
        self.retries = 0
        self.queue_duration = Histogram(_DURATION_BUCKETS_S)
        self.work_duration = Histogram(_DURATION_BUCKETS_S)
        self._clock = clock
        self._now = clock.monotonic
        self._backoff = backoff or KeyedBackoff(BackoffSettings())
        self._ready: deque[K] = deque()
        self._added_at: dict[K, float] = {}  # the ready keys, and running ones that run once more
        self._running: dict[K, float] = {}  # since when
        self._delays: _Delays[K] = _Delays()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._timekeeper: asyncio.Future[None] | None = None
        self._drained: list[asyncio.Future[None]] = []
        self._is_closed = False

    def add(self, key: K) -> None:
        """Asks for `key` to be handled soon."""
        if self._is_closed:
            return
        self._enqueue(key, self._tick())

    def add_after(self, key: K, seconds: float) -> None:
        """Asks for `key` to be handled in `seconds`. Of several delays the earliest counts."""
        if self._is_closed:
            return
        if seconds <= 0:
            self.add(key)
        elif self._delays.put(key, self._tick() + seconds):
            if self._timekeeper is None:
                self._wake_one()  # to become it
            else:
                _wake(self._timekeeper)  # it watches a later time

    def retry(self, key: K, *, at_least_s: float = 0.0) -> None:
        """Asks for a failed `key` again, after a wait that grows until `forget`."""
        self.retries += 1
        self.add_after(key, max(self._backoff.next(key), at_least_s))

    def forget(self, key: K) -> None:
        """`key` succeeded: its next failure starts from the shortest wait."""
        self._backoff.forget(key)

    def failures(self, key: K) -> int:
        """How often `key` failed in a row."""
        return self._backoff.failures(key)

    async def get(self) -> K:
        """The next key, when there is one. The caller owns it until it says `done`."""
        while True:
            now = self._tick()
            if self._ready:
                key = self._ready.popleft()
                self.queue_duration.observe(now - self._added_at.pop(key))
                self._running[key] = now
                if self._waiters and self._delays and self._timekeeper is None:
                    self._wake_one()  # to keep the time while this caller works
                return key
            if self._is_closed and not self._running:
                raise QueueClosed(self.name)
            await self._wait(now)

    def done(self, key: K) -> None:
        """Gives `key` back. If it was asked for in the meantime, it goes to the end of the line."""
        now = self._tick()
        self.work_duration.observe(now - self._running.pop(key))
        if key in self._added_at:
            self._ready.append(key)
            self._wake_one()
        elif self._is_closed and not self._running and not self._ready:
            self._finish()

    def close(self, *, drop: bool = False) -> None:
        """Takes no more keys and forgets delays; what waits is still handed out unless `drop`."""
        self._is_closed = True
        self._delays.clear()
        if drop:
            self._ready.clear()
            self._added_at.clear()
        if not self._ready and not self._running:
            self._finish()

    async def drained(self) -> None:
        """Returns when the queue is closed and no key waits or runs."""
        if self._is_closed and not self._ready and not self._running:
            return
        finished = asyncio.get_running_loop().create_future()
        self._drained.append(finished)
        await finished

    # What there is to see: for metrics, probes and tests.

    @property
    def depth(self) -> int:
        """Keys that wait to be handled; delayed ones do not count before their time."""
        self._tick()
        return len(self._added_at)

    @property
    def delayed(self) -> int:
        """Keys whose time has not come."""
        self._tick()
        return len(self._delays)

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def oldest_waiting_s(self) -> float:
        """For how long the key that was added first has been waiting."""
        now = self._tick()
        return now - next(iter(self._added_at.values()), now)

    @property
    def unfinished_s(self) -> float:
        """Seconds that the running keys have taken so far, all together."""
        now = self._now()
        return sum(now - since for since in self._running.values())

    @property
    def longest_running_s(self) -> float:
        """Seconds that the slowest running key has taken so far."""
        now = self._now()
        return now - next(iter(self._running.values()), now)

    def _enqueue(self, key: K, since: float) -> None:
        if key in self._added_at:
            return
        self._added_at[key] = since
        self.adds += 1
        if key not in self._running:
            self._ready.append(key)
            if self._waiters:
                self._wake_one()

    def _tick(self) -> float:
        """The time, after the keys that are due by now have joined the line."""
        now = self._now()
        if self._delays.next_due <= now + _TIMER_SLACK_S:
            for key, due in self._delays.take_due(now + _TIMER_SLACK_S):
                self._enqueue(key, min(due, now))
        return now

    async def _wait(self, now: float) -> None:
        """Until there may be a key. One of those who wait, the timekeeper, also watches the clock."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        limit = None
        if self._timekeeper is None and self._delays:
            self._timekeeper = waiter
            limit = self._delays.next_due - now
        try:
            async with self._clock.timeout(limit):
                await waiter
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            # It may have been called for a key, or it kept the time: both are for somebody else now.
            self._wake_one()
            raise
        finally:
            if self._timekeeper is waiter:
                self._timekeeper = None
            with suppress(ValueError):
                self._waiters.remove(waiter)

    def _wake_one(self) -> None:
        while self._waiters:
            if _wake(self._waiters.popleft()):
                return

    def _finish(self) -> None:
        while self._waiters:
            _wake(self._waiters.popleft())
        while self._drained:
            _wake(self._drained.pop())


class _Delays(Generic[K]):
    """Keys with the time they are due, at most one time each, the earliest first.

    A key whose time moves leaves its old entry in the heap; it is skipped when it comes up, and the
    heap is built anew when such leftovers outnumber the rest.
    """

    def __init__(self) -> None:
        self.next_due = inf
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._order = count()  # keys need not be comparable, and equal times keep their order

    def __len__(self) -> int:
        return len(self._due)

    def put(self, key: K, due: float) -> bool:
        """Whether `key` is now the first of all to become due."""
        if self._due.get(key, inf) <= due:
            return False
        self._due[key] = due
        heapq.heappush(self._heap, (due, next(self._order), key))
        if len(self._heap) > 2 * len(self._due) + 64:
            self._heap = [entry for entry in self._heap if self._is_current(entry)]
            heapq.heapify(self._heap)
        if due >= self.next_due:
            return False
        self.next_due = due
        return True

    def take_due(self, until: float) -> Iterator[tuple[K, float]]:
        while self.next_due <= until:
            entry = heapq.heappop(self._heap)
            is_current = self._is_current(entry)
            due, _, key = entry
            if is_current:
                del self._due[key]
            if not self._due:
                self._heap.clear()
            self.next_due = self._heap[0][0] if self._heap else inf
            if is_current:
                yield key, due

    def clear(self) -> None:
        self.next_due = inf
        self._due.clear()
        self._heap.clear()

    def _is_current(self, entry: tuple[float, int, K]) -> bool:
        due, _, key = entry
        return self._due.get(key) == due


def _wake(waiter: asyncio.Future[None]) -> bool:
    if waiter.done():
        return False
    waiter.set_result(None)
    return True
