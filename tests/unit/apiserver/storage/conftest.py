"""A store to test, on disk and in memory: each test that asks for `home` or `store` runs on both."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from kubevirt.apiserver.storage.memory import MemoryDisk, memory_store
from kubevirt.apiserver.storage.records import Event
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.sqlite import open_store
from kubevirt.apiserver.storage.store import Store, StoreSettings
from kubevirt.apiserver.storage.watching import Watch, WatchSettings
from kubevirt.base.clock import SystemClock

LIMIT_S = 20.0

SMALL = StoreSettings(
    chunk=3,
    retention=RetentionSettings(step=2, pause_s=0.0),
    watch=WatchSettings(buffer_events=20, buffer_bytes=10_000, replay=4),
)
"""So that a few objects already mean several chunks, steps and replays."""


class Home(Protocol):
    """Where a store lives: it can be opened, closed and opened again."""

    def open(self, settings: StoreSettings = SMALL) -> AbstractAsyncContextManager[Store]: ...


@dataclass
class OnDisk:
    path: Path

    def open(self, settings: StoreSettings = SMALL) -> AbstractAsyncContextManager[Store]:
        return open_store(self.path, clock=SystemClock(), settings=settings)


@dataclass
class InMemory:
    disk: MemoryDisk

    def open(self, settings: StoreSettings = SMALL) -> AbstractAsyncContextManager[Store]:
        return memory_store(self.disk, clock=SystemClock(), settings=settings)


@pytest.fixture(params=["sqlite", "memory"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    return OnDisk(tmp_path / "store.db") if request.param == "sqlite" else InMemory(MemoryDisk())


@pytest.fixture
async def store(home: Home) -> AsyncIterator[Store]:
    async with home.open() as store:
        yield store


async def go_live(watch: Watch) -> None:
    """Makes it wait for what comes, as someone does who has taken all there was."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await anext(watch)


async def next_events(watch: Watch, count: int) -> Sequence[Event]:
    """The next `count` events, however they are batched."""
    events: list[Event] = []
    async with asyncio.timeout(LIMIT_S):
        while len(events) < count:
            events += await anext(watch)
    assert len(events) == count, f"more than {count} events came together"
    return events
