"""How long the past is kept, by a clock that does not jump."""

import pytest

from kubevirt.apiserver.storage.errors import StoreFull
from kubevirt.apiserver.storage.memory import MemoryDisk, memory_store
from kubevirt.apiserver.storage.retention import Retention, RetentionSettings
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.base.virtual_time import VirtualClock

SETTINGS = RetentionSettings(keep_s=300, keep_events=10)


def test_nothing_is_forgotten_before_its_time() -> None:
    retention = Retention(SETTINGS, now=0, revision=0)
    assert retention.floor(now=10, revision=100) == 0
    assert retention.floor(now=309, revision=200) == 0
    assert retention.floor(now=310, revision=300) == 100


def test_the_newest_events_are_kept_however_old() -> None:
    retention = Retention(SETTINGS, now=0, revision=0)
    retention.floor(now=10, revision=100)
    assert retention.floor(now=10_000, revision=100) == 90
    assert retention.floor(now=20_000, revision=100) == 90


def test_what_was_written_before_the_start_is_as_old_as_the_start() -> None:
    retention = Retention(SETTINGS, now=1000, revision=500)
    assert retention.floor(now=1299, revision=500) == 0
    assert retention.floor(now=1300, revision=500) == 490


def test_a_busy_store_forgets_as_it_goes() -> None:
    retention = Retention(SETTINGS, now=0, revision=0)
    floors = [retention.floor(now=15 * look, revision=1000 * look) for look in range(1, 100)]
    assert floors[:20] == [0] * 20
    assert floors[20:] == [1000 * look for look in range(1, 80)]


@pytest.mark.virtual_time
async def test_the_past_goes_by_itself_and_a_jumping_clock_does_not_matter(
    virtual_clock: VirtualClock,
) -> None:
    settings = StoreSettings(retention=RetentionSettings(keep_s=300, keep_events=2))
    async with memory_store(MemoryDisk(), clock=virtual_clock, settings=settings) as store:
        entry = await store.create("/a", b"0")
        for number in range(1, 10):
            entry = await store.update(entry, b"%d" % number)
        virtual_clock.jump_wall_clock(-86_400)
        await virtual_clock.sleep(290)
        assert store.compacted == 0
        virtual_clock.jump_wall_clock(7 * 86_400)
        await virtual_clock.sleep(5)
        assert store.compacted == 0
        await virtual_clock.sleep(40)
        assert store.compacted == 8
        assert await store.get("/a") == entry


@pytest.mark.virtual_time
async def test_what_could_not_be_forgotten_is_forgotten_later(
    virtual_clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    disk = MemoryDisk()
    settings = StoreSettings(retention=RetentionSettings(keep_s=60, keep_events=0))
    async with memory_store(disk, clock=virtual_clock, settings=settings) as store:
        await store.update(await store.create("/a", b"1"), b"2")
        disk.fault = StoreFull("no room")
        await virtual_clock.sleep(100)
        assert disk.compacted == 0
        assert "the past could not be forgotten" in caplog.text
        disk.fault = None
        await store.create("/b", b"1")
        await virtual_clock.sleep(100)
        assert disk.compacted == 3
        assert len(disk.events) == 2


@pytest.mark.virtual_time
async def test_an_idle_store_writes_nothing(virtual_clock: VirtualClock) -> None:
    disk = MemoryDisk()
    async with memory_store(disk, clock=virtual_clock) as store:
        await store.create("/a", b"")
        await virtual_clock.sleep(86_400)
        assert (disk.revision, disk.compacted) == (1, 0)
