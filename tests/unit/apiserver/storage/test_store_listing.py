"""Lists: one revision, in pages, of now and of the past."""

import asyncio
from typing import Any

import pytest
from tests.unit.apiserver.storage.conftest import Home

from kubevirt.apiserver.storage.errors import Compacted, FutureRevision
from kubevirt.apiserver.storage.records import Entry, Page
from kubevirt.apiserver.storage.store import Store


def keys(page: Page) -> list[str]:
    return [entry.key for entry in page.entries]


async def fill(store: Store, count: int, prefix: str = "/pods/a/") -> list[Entry]:
    return [await store.create(f"{prefix}{number:02}", b"v") for number in range(count)]


async def test_a_list_has_what_is_below_its_prefix_in_order(store: Store) -> None:
    for key in ("/pods/b/1", "/pods/a/2", "/pods/a/1", "/pods2/a/1", "/pod/a/1", "/pods/a/1/x"):
        await store.create(key, b"")
    page = await store.list("/pods/")
    assert keys(page) == ["/pods/a/1", "/pods/a/1/x", "/pods/a/2", "/pods/b/1"]
    assert page.revision == 6
    assert page.next is None
    assert keys(await store.list("/pods/b/")) == ["/pods/b/1"]
    assert len(keys(await store.list("/"))) == 6


async def test_keys_are_ordered_by_their_bytes(store: Store) -> None:
    names = ["a", "A", "é", "-", "0", "\uff5e", "😀", "\ue000"]
    for name in names:
        await store.create(f"/n/{name}", b"")
    expected = sorted((f"/n/{name}" for name in names), key=str.encode)
    assert keys(await store.list("/n/")) == expected


async def test_an_empty_list_has_a_revision(store: Store) -> None:
    assert await store.list("/pods/") == Page([], 0, None)
    await store.create("/other", b"")
    assert await store.list("/pods/") == Page([], 1, None)


async def test_a_list_has_each_key_once_and_as_it_is_now(store: Store) -> None:
    entries = await fill(store, 5)
    for _ in range(4):
        entries[2] = await store.update(entries[2], b"%d" % store.revision)
    await store.delete(entries.pop(3))
    page = await store.list("/pods/")
    assert page.entries == entries


async def test_pages_are_all_of_it_and_tell_how_much_remains(store: Store) -> None:
    entries = await fill(store, 11)
    await fill(store, 3, "/pods2/")
    first = await store.list("/pods/", limit=4)
    assert first.entries == entries[:4]
    assert first.next
    assert first.next.remaining == 7
    second = await store.list("/pods/", limit=4, start=first.next)
    assert second.entries == entries[4:8]
    assert second.next
    assert second.next.remaining == 3
    third = await store.list("/pods/", limit=4, start=second.next)
    assert third.entries == entries[8:]
    assert third.next is None


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 7])
async def test_a_page_that_is_just_full_is_the_last(store: Store, limit: int) -> None:
    entries = await fill(store, 6)
    found: list[Entry] = []
    page = await store.list("/pods/", limit=limit)
    found += page.entries
    while page.next:
        assert page.next.remaining == 6 - len(found)
        page = await store.list("/pods/", limit=limit, start=page.next)
        assert page.entries
        found += page.entries
    assert found == entries


async def test_later_pages_are_of_the_first_ones_revision(store: Store) -> None:
    entries = await fill(store, 6)
    first = await store.list("/pods/", limit=2)
    await store.delete(entries[2])
    await store.update(entries[3], b"new")
    await store.create("/pods/a/04a", b"new")
    rest = await store.list("/pods/", start=first.next)
    assert rest.revision == first.revision
    assert rest.entries == entries[2:]


async def test_every_revision_still_kept_can_be_listed(store: Store) -> None:
    history: dict[int, list[Entry]] = {0: []}
    state: dict[str, Entry] = {}
    for step in range(40):
        key = f"/k/{step * 7 % 5}"
        if key not in state:
            state[key] = await store.create(key, b"%d" % step)
        elif step % 3:
            state[key] = await store.update(state[key], b"%d" % step)
        else:
            await store.delete(state.pop(key))
        history[store.revision] = [state[each] for each in sorted(state)]
    for revision, expected in history.items():
        page = await store.list("/k/", at=revision)
        assert (page.revision, page.entries) == (revision, expected)


async def test_a_revision_that_was_compacted_cannot_be_listed(store: Store) -> None:
    entries = await fill(store, 6)
    await store.update(entries[0], b"new")
    await store.compact(5)
    assert keys(await store.list("/pods/", at=5)) == [entry.key for entry in entries[:5]]
    with pytest.raises(Compacted) as refusal:
        await store.list("/pods/", at=4)
    assert refusal.value.oldest == store.compacted == 5


async def test_a_page_whose_revision_was_compacted_cannot_be_continued(store: Store) -> None:
    await fill(store, 6)
    page = await store.list("/pods/", limit=2)
    await fill(store, 3, "/pods/b/")
    await store.compact(7)
    with pytest.raises(Compacted):
        await store.list("/pods/", start=page.next)


async def test_a_long_list_is_refused_when_its_revision_is_compacted_meanwhile(
    store: Store,
) -> None:
    """Half of it would be of another time."""
    entries = await fill(store, 12)
    pieces = store.scan("/pods/")
    assert list(await anext(pieces)) == entries[:3]
    for entry in entries:
        await store.delete(entry)
    await store.compact(store.revision)
    with pytest.raises(Compacted):
        await anext(pieces)


async def test_a_long_list_shows_one_revision_while_others_write(store: Store) -> None:
    entries = await fill(store, 12)
    found: list[Entry] = []
    async for piece in store.scan("/pods/"):
        found += piece
        await store.create(f"/pods/a/{len(found):02}a", b"late")
        await store.update(entries[-len(found)], b"late")
        if len(found) == 6:
            await store.delete(entries[8])
    assert found == entries


async def test_a_revision_of_the_future_cannot_be_listed(store: Store) -> None:
    await store.create("/a", b"")
    with pytest.raises(FutureRevision) as refusal:
        await store.list("/", at=2)
    assert refusal.value.current == 1


async def test_a_list_through_many_deleted_keys_gives_others_their_turn(store: Store) -> None:
    for entry in await fill(store, 30):
        await store.delete(entry)
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        counter = tasks.create_task(count_turns())
        page = await store.list("/pods/")
        counter.cancel()
    assert page.entries == []
    assert turns >= 10  # 30 keys in chunks of 3


async def test_many_long_lists_at_once_hold_others_up_no_longer_than_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store, 30)
    pieces: list[int] = []
    entries = store._log.entries

    def counted(*args: Any) -> tuple[list[Entry], str | None]:
        pieces[-1] += 1
        return entries(*args)

    monkeypatch.setattr(store._log, "entries", counted)

    async def tick() -> None:
        while True:
            pieces.append(0)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        ticker = tasks.create_task(tick())
        await asyncio.sleep(0)
        await asyncio.gather(*(store.list("/pods/") for _ in range(10)))
        ticker.cancel()
    assert sum(pieces) >= 100
    assert max(pieces) <= 2


async def test_compaction_leaves_the_present_as_it_is(home: Home) -> None:
    async with home.open() as store:
        entries = await fill(store, 8)
        entries = [await store.update(entry, b"new") for entry in entries]
        await store.delete(entries.pop())
        await store.compact(store.revision)
        assert (await store.list("/")).entries == entries
        revision = store.revision
    async with home.open() as store:
        assert (store.revision, store.compacted) == (revision, revision)
        assert (await store.list("/")).entries == entries
        assert (await store.create("/later", b"")).revision == revision + 1
