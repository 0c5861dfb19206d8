"""Watches: every event once, in order, from any revision still kept."""

import asyncio
from collections.abc import Sequence

import pytest
from tests.unit.apiserver.storage.conftest import LIMIT_S, Home, go_live, next_events

from kubevirt.apiserver.storage.errors import Compacted, StoreClosed, WatcherTooSlow
from kubevirt.apiserver.storage.records import Event
from kubevirt.apiserver.storage.store import Store


async def test_a_watch_tells_what_happens_from_now_on(store: Store) -> None:
    old = await store.create("/a", b"1")
    with store.watch("/") as watch:
        new = await store.update(old, b"2")
        deleted = await store.delete(new)
        assert await next_events(watch, 2) == [
            Event(2, "/a", entry=new, previous=old),
            Event(deleted, "/a", entry=None, previous=new),
        ]


async def test_a_watch_can_begin_in_the_past(store: Store) -> None:
    first = await store.create("/a", b"1")
    second = await store.update(first, b"2")
    third = await store.delete(second)
    expected = [
        Event(1, "/a", entry=first, previous=None),
        Event(2, "/a", entry=second, previous=first),
        Event(third, "/a", entry=None, previous=second),
    ]
    for after in range(4):
        with store.watch("/", after=after) as watch:
            await store.create(f"/b{after}", b"")
            count = store.revision - after
            assert list(await next_events(watch, count))[: 3 - after] == expected[after:]


async def test_a_watch_can_begin_before_a_restart(home: Home) -> None:
    async with home.open() as store:
        entry = await store.create("/a", b"1")
        entry = await store.update(entry, b"2")
    async with home.open() as store:
        with store.watch("/", after=1) as watch:
            deleted = await store.delete(entry)
            events = await next_events(watch, 2)
    assert [event.revision for event in events] == [2, deleted]
    assert events[0].previous
    assert events[0].previous.value == b"1"


async def test_a_watch_hears_only_of_its_prefix(store: Store) -> None:
    with store.watch("/pods/a/", after=0) as old:
        for key in ("/pods/a/1", "/pods/b/1", "/pods/a", "/pods/ab/1", "/pods/a/2"):
            await store.create(key, b"")
        with store.watch("/pods/a/") as live:
            live_events = asyncio.ensure_future(next_events(live, 1))
            await asyncio.sleep(0)
            await store.create("/pods/b/2", b"")
            await store.create("/pods/a/3", b"")
            assert [event.key for event in await live_events] == ["/pods/a/3"]
        keys = [event.key for event in await next_events(old, 3)]
    assert keys == ["/pods/a/1", "/pods/a/2", "/pods/a/3"]


async def test_one_key_can_be_watched(store: Store) -> None:
    with store.watch("/pods/a", after=0) as old:
        with store.watch("/pods/a") as live:
            live_events = asyncio.ensure_future(next_events(live, 1))
            await asyncio.sleep(0)
            for key in ("/pods/a/1", "/pods/aa", "/pods/a"):
                await store.create(key, b"")
            assert [event.key for event in await live_events] == ["/pods/a"]
        assert [event.key for event in await next_events(old, 1)] == ["/pods/a"]


async def test_between_the_past_and_the_present_nothing_is_lost_or_told_twice(
    store: Store,
) -> None:
    """Watches that begin at any revision, at any moment of a busy time."""

    async def write(name: str) -> None:
        for number in range(30):
            await store.create(f"/{name}/{number}", b"")

    async def watch_from(after: int) -> list[int]:
        seen: list[int] = []
        with store.watch("/", after=after) as watch:
            while not seen or seen[-1] < 120:
                seen += [event.revision for event in await anext(watch)]
        return seen

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        for name in "abcd":
            tasks.create_task(write(name))
        watches = []
        while store.revision < 110:
            for back in (0, 1, 5, store.revision):
                after = max(0, store.revision - back)
                watches.append((after, tasks.create_task(watch_from(after))))
            await asyncio.sleep(0.001)
    for after, watched in watches:
        assert watched.result() == list(range(after + 1, 121))


async def test_watchers_share_events_and_values(store: Store) -> None:
    with store.watch("/a/") as one, store.watch("/a/") as other, store.watch("/") as third:
        waiting = [asyncio.ensure_future(next_events(each, 1)) for each in (one, other, third)]
        await asyncio.sleep(0)
        entry = await store.create("/a/b", b"value")
        found = [(await each)[0] for each in waiting]
    assert found[0] is found[1]
    assert found[0] is found[2]
    assert found[0].entry is entry


async def test_a_list_and_a_watch_from_its_revision_are_everything(store: Store) -> None:
    await store.create("/a", b"")
    page = await store.list("/")
    await store.create("/b", b"")
    with store.watch("/", after=page.revision) as watch:
        await store.create("/c", b"")
        assert [event.key for event in await next_events(watch, 2)] == ["/b", "/c"]


async def test_a_watch_of_the_future_begins_when_it_comes(store: Store) -> None:
    with store.watch("/", after=2) as watch:
        waiting = asyncio.ensure_future(next_events(watch, 1))
        await asyncio.sleep(0)
        for key in ("/a", "/b", "/c"):
            await store.create(key, b"")
        assert [event.revision for event in await waiting] == [3]


async def test_a_watch_cannot_begin_at_a_compacted_revision(store: Store) -> None:
    for number in range(5):
        await store.create(f"/{number}", b"")
    await store.compact(3)
    with pytest.raises(Compacted):
        store.watch("/", after=2)
    with store.watch("/", after=3) as watch:
        assert [event.revision for event in await next_events(watch, 2)] == [4, 5]


async def test_events_behind_a_compacted_revision_still_know_what_was_before(
    store: Store,
) -> None:
    entry = await store.create("/a", b"1")
    for value in (b"2", b"3", b"4"):
        entry = await store.update(entry, value)
    await store.compact(2)
    with store.watch("/", after=2) as watch:
        events = await next_events(watch, 2)
    assert [event.previous.value for event in events if event.previous] == [b"2", b"3"]


async def test_a_watch_whose_past_is_compacted_while_it_reads_is_told(store: Store) -> None:
    for number in range(12):
        await store.create(f"/{number}", b"")
    with store.watch("/", after=0) as watch:
        assert [event.revision for event in await anext(watch)] == [1, 2, 3, 4]
        await store.compact(6)
        with pytest.raises(Compacted):
            await anext(watch)


async def test_a_live_watch_does_not_mind_compaction(store: Store) -> None:
    with store.watch("/") as watch:
        waiting = asyncio.ensure_future(next_events(watch, 4))
        for number in range(4):
            await store.create(f"/{number}", b"")
        await store.compact(store.revision)
        assert len(await waiting) == 4


async def test_a_slow_watcher_is_cut_and_can_resume(store: Store) -> None:
    entry = await store.create("/a", b"")
    with store.watch("/") as watch:
        entry = await store.update(entry, b"first")
        assert len(await anext(watch)) == 1
        await go_live(watch)
        for number in range(21):  # its buffer holds 20
            entry = await store.update(entry, b"%d" % number)
        with pytest.raises(WatcherTooSlow) as refusal:
            await anext(watch)
        assert refusal.value.revision == watch.revision == 2
        assert store.watchers == 0
    with store.watch("/", after=refusal.value.revision) as again:
        assert len(await next_events(again, 21)) == 21


async def test_a_watcher_that_leaves_large_values_untaken_is_cut(store: Store) -> None:
    with store.watch("/") as watch:
        await go_live(watch)
        for number in range(3):  # its buffer holds 10,000 bytes
            await store.create(f"/{number}", b"x" * 4000)
        with pytest.raises(WatcherTooSlow):
            await anext(watch)


async def test_a_slow_watcher_costs_the_others_nothing(store: Store) -> None:
    with store.watch("/") as slow, store.watch("/") as quick:
        await go_live(slow)
        for number in range(30):
            await store.create(f"/{number}", b"")
            assert len(await anext(quick)) == 1
        assert store.watchers == 1


async def test_a_watch_that_was_cancelled_while_waiting_goes_on(store: Store) -> None:
    with store.watch("/") as watch:
        for number in range(3):
            await go_live(watch)
            await store.create(f"/{number}", b"")
            assert [event.key for event in await anext(watch)] == [f"/{number}"]


async def test_a_watch_knows_how_far_it_is(store: Store) -> None:
    await store.create("/a/1", b"")
    with store.watch("/a/", after=0) as watch:
        assert watch.revision == 0
        await anext(watch)
        assert watch.revision == 1
        waiting = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)
        await store.create("/b/1", b"")
        assert watch.revision == 2  # nothing of it was below its prefix
        await store.create("/a/2", b"")
        await store.create("/b/2", b"")
        await waiting
        assert watch.revision >= 3


async def test_a_watch_that_has_untaken_events_does_not_claim_to_be_further(store: Store) -> None:
    with store.watch("/a/") as watch:
        await go_live(watch)
        await store.create("/a/1", b"")
        await anext(watch)
        await store.create("/a/2", b"")
        await store.create("/b/1", b"")
        assert watch.revision == 1
        await anext(watch)
        assert watch.revision == 3


async def test_a_watch_ends_with_its_block(store: Store) -> None:
    with store.watch("/") as watch:
        waiting = asyncio.ensure_future(anext(watch, None))
        await asyncio.sleep(0)
        assert store.watchers == 1
    assert await waiting is None
    assert store.watchers == 0


async def test_watches_end_when_the_store_closes(home: Home) -> None:
    async with home.open() as store:
        await store.create("/a", b"")
        live, old, unread = store.watch("/"), store.watch("/", after=0), store.watch("/")
        waiting = asyncio.ensure_future(anext(live))
        await asyncio.sleep(0)
    for watch in (waiting, anext(old), anext(unread)):
        with pytest.raises(StoreClosed):
            await watch


async def test_a_thousand_idle_watchers_cost_an_event_nothing(store: Store) -> None:
    watches = [store.watch(f"/{number}/") for number in range(1000)]
    waiting = [asyncio.ensure_future(anext(watch, None)) for watch in watches]
    await asyncio.sleep(0)
    assert store.watchers == 1000
    await store.create("/7/a", b"")
    (event,) = await waiting.pop(7) or ()
    assert event.key == "/7/a"
    assert not any(each.done() for each in waiting)
    for watch in watches:
        watch.close()
    assert await asyncio.gather(*waiting) == [None] * 999


async def test_a_revision_of_the_future_is_waited_for(store: Store) -> None:
    async with asyncio.timeout(10):
        await store.reach(store.revision)
        waiting = asyncio.create_task(store.reach(store.revision + 2))
        await store.create("/a", b"1")
        await asyncio.sleep(0)
        assert not waiting.done()
        await store.create("/b", b"2")
        await waiting


async def test_large_events_of_the_past_come_in_small_pieces(store: Store) -> None:
    for number in range(8):
        await store.create(f"/{number}", b"x" * 700_000)
    with store.watch("/", after=0) as watch:
        batches: list[Sequence[Event]] = []
        async with asyncio.timeout(10):
            while sum(len(batch) for batch in batches) < 8:
                batches.append(await anext(watch))
    assert [event.revision for batch in batches for event in batch] == list(range(1, 9))


async def test_large_entries_are_scanned_in_small_pieces(store: Store) -> None:
    for number in range(8):
        await store.create(f"/{number}", b"x" * 700_000)
    pieces = [piece async for piece in store.scan("/")]
    assert [entry.key for piece in pieces for entry in piece] == [f"/{n}" for n in range(8)]


async def test_a_watch_can_end_once_it_has_told_everything(store: Store) -> None:
    with store.watch("/") as live, store.watch("/", after=0) as past:
        await go_live(live)
        await store.create("/a", b"1")
        await store.create("/b", b"2")
        live.end()
        past.end()
        await store.create("/c", b"3")
        for watch in (live, past):
            async with asyncio.timeout(LIMIT_S):
                keys = [event.key async for events in watch for event in events]
            assert keys[:2] == ["/a", "/b"]
