"""The end of events: they tell of the recent past, and go an hour after they were last written.

Nothing is kept for each of them: since revisions grow, it is enough to remember now and then which one was
reached when. Once that is an hour ago, all events that have not been written since are deleted, as if
their time had run out in the store: nobody is asked. Of events from before the start the server's own
times in them tell the age.
"""

import asyncio
from collections import deque
from datetime import datetime
from typing import Any, Final

from kubevirt.apiserver.collector.times import parsed
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.stored import object_of
from kubevirt.apiserver.storage.errors import Conflict
from kubevirt.apiserver.storage.records import Entry
from kubevirt.apiserver.storage.records import Event as Change
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

Object = dict[str, Any]

DEFAULT_TTL_S: Final = 3600.0
_PART: Final = 60
"""Events go up to this part of their time late: how often there is something to remember, and to do."""


class Expiry:
    def __init__(self, registry: Registry, ttl_s: float) -> None:
        self._registry = registry
        self._clock: Clock = registry.clock
        self._ttl_s = ttl_s
        self._prefixes = (registry.catalog.kind("", "events").prefix,)
        self._reached: deque[tuple[float, int]] = deque()
        """Of the events written until then, the last revision. In order."""
        self._first = asyncio.Event()

    async def load(self, at: int) -> None:
        now, wall = self._clock.monotonic(), self._clock.now()
        written: list[tuple[int, float]] = []
        for prefix in self._prefixes:
            async for chunk in self._registry.store.scan(prefix, at=at):
                written += [(each.revision, now - _age_s(each, wall)) for each in chunk]
        self._reached.clear()
        latest = float("-inf")
        for revision, moment in sorted(written):
            latest = max(latest, min(moment, now))
            self._remember(revision, latest)

    def observe(self, event: Change) -> None:
        if event.entry and event.key.startswith(self._prefixes):
            self._remember(event.revision, self._clock.monotonic())

    def _remember(self, revision: int, moment: float) -> None:
        """Rounded up, so that there are few."""
        step = self._ttl_s / _PART
        rounded = (moment // step + 1) * step
        if self._reached and self._reached[-1][0] == rounded:
            self._reached.pop()
        self._reached.append((rounded, revision))
        self._first.set()

    async def run(self) -> None:
        while True:
            await self._first.wait()
            while self._reached:
                due = self._reached[0][0] + self._ttl_s
                await self._clock.sleep(max(due - self._clock.monotonic(), 0))
                await self._delete_until(self._reached.popleft()[1])
            self._first.clear()

    async def _delete_until(self, revision: int) -> None:
        for prefix in self._prefixes:
            async for chunk in self._registry.store.scan(prefix):
                old = [each for each in chunk if each.revision <= revision]
                async with asyncio.TaskGroup() as tasks:  # they share a commit to the disk
                    for entry in old:
                        tasks.create_task(self._delete(entry))

    async def _delete(self, entry: Entry) -> None:
        try:
            await self._registry.store.delete(entry)
        except Conflict:
            pass  # it was written again, and has another hour
        except Retry as error:
            log.info("an old event could not be deleted", key=entry.key, reason=error)


def _age_s(entry: Entry, now: datetime) -> float:
    """Since it was last written, by the times that the server wrote into it."""
    metadata: Object = object_of(entry, "")["metadata"]
    times = [each.get("time", "") for each in metadata.get("managedFields") or ()]
    newest = max([metadata.get("creationTimestamp", ""), *times])
    try:
        written = parsed(newest)
    except ValueError:
        return 0.0
    return (now - written).total_seconds()
