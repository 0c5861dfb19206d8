"""Writes: who wins, what they get, what they leave."""

import asyncio

import pytest
from tests.unit.apiserver.storage.conftest import Home

from kubevirt.apiserver.storage.errors import Conflict, StoreClosed, ValueTooLarge
from kubevirt.apiserver.storage.records import Change, Entry
from kubevirt.apiserver.storage.store import VALUE_LIMIT, Store


async def test_a_created_key_can_be_read(store: Store) -> None:
    created = await store.create("/pods/a/web", b"{}")
    assert created == Entry("/pods/a/web", b"{}", revision=1, created=1)
    assert await store.get("/pods/a/web") == created


async def test_a_key_that_nobody_created_is_not_there(store: Store) -> None:
    await store.create("/pods/a/web", b"{}")
    assert await store.get("/pods/a/we") is None
    assert await store.get("/pods/a/web2") is None


async def test_every_change_has_the_next_revision(store: Store) -> None:
    first = await store.create("/a", b"1")
    second = await store.create("/b", b"1")
    updated = await store.update(first, b"2")
    deleted = await store.delete(second)
    assert [first.revision, second.revision, updated.revision, deleted] == [1, 2, 3, 4]
    assert store.revision == 4


async def test_an_update_remembers_when_the_key_was_created(store: Store) -> None:
    await store.create("/other", b"")
    entry = await store.create("/a", b"1")
    entry = await store.update(entry, b"2")
    entry = await store.update(entry, b"3")
    assert entry == Entry("/a", b"3", revision=4, created=2)
    assert await store.get("/a") == entry


async def test_a_deleted_key_is_gone_and_can_be_created_anew(store: Store) -> None:
    entry = await store.create("/a", b"1")
    await store.delete(entry)
    assert await store.get("/a") is None
    assert await store.create("/a", b"2") == Entry("/a", b"2", revision=3, created=3)


async def test_values_are_stored_as_they_are(store: Store) -> None:
    for number, value in enumerate((b"", b"\0\xff\n", b"x" * VALUE_LIMIT)):
        entry = await store.create(f"/{number}", value)
        assert await store.get(entry.key) == entry


async def test_a_value_beyond_the_limit_is_refused_and_nothing_is_written(store: Store) -> None:
    small = await store.create("/small", b"1")
    large = b"x" * (VALUE_LIMIT + 1)
    with pytest.raises(ValueTooLarge, match="the value of /large has 1572865 bytes"):
        await store.write(Change.delete(small), Change.create("/large", large))
    with pytest.raises(ValueTooLarge):
        await store.update(small, large)
    assert await store.get("/small") == small


async def test_creating_what_exists_gives_the_present_state(store: Store) -> None:
    entry = await store.create("/a", b"1")
    with pytest.raises(Conflict) as refusal:
        await store.create("/a", b"2")
    assert refusal.value.current == entry
    assert await store.get("/a") == entry
    assert store.revision == 1


async def test_updating_what_has_changed_gives_the_present_state(store: Store) -> None:
    old = await store.create("/a", b"1")
    new = await store.update(old, b"2")
    with pytest.raises(Conflict) as refusal:
        await store.update(old, b"3")
    assert refusal.value.current == new
    assert (await store.update(new, b"3")).revision == 3


async def test_deleting_what_has_changed_gives_the_present_state(store: Store) -> None:
    old = await store.create("/a", b"1")
    new = await store.update(old, b"2")
    with pytest.raises(Conflict) as refusal:
        await store.delete(old)
    assert refusal.value.current == new


async def test_updating_what_is_gone_says_that_it_is(store: Store) -> None:
    entry = await store.create("/a", b"1")
    await store.delete(entry)
    for write in (store.update(entry, b"2"), store.delete(entry)):
        with pytest.raises(Conflict, match="does not exist") as refusal:
            await write
        assert refusal.value.current is None


async def test_a_key_deleted_and_created_anew_is_not_the_one_that_was_read(store: Store) -> None:
    old = await store.create("/a", b"1")
    await store.delete(old)
    new = await store.create("/a", b"1")
    with pytest.raises(Conflict) as refusal:
        await store.update(old, b"2")
    assert refusal.value.current == new


async def test_the_same_value_again_changes_nothing(store: Store) -> None:
    entry = await store.create("/a", b"1")
    assert await store.update(entry, b"1") == entry
    assert store.revision == 1


async def test_the_same_value_again_is_still_a_conflict_if_the_key_has_changed(
    store: Store,
) -> None:
    old = await store.create("/a", b"1")
    await store.update(old, b"2")
    with pytest.raises(Conflict):
        await store.update(old, b"1")


async def test_of_many_who_update_at_once_one_wins(store: Store) -> None:
    entry = await store.create("/a", b"")
    values = [b"%d" % number for number in range(50)]
    outcomes = await asyncio.gather(
        *(store.update(entry, value) for value in values), return_exceptions=True
    )
    winners = [each for each in outcomes if isinstance(each, Entry)]
    assert len(winners) == 1
    losers = [each for each in outcomes if isinstance(each, Conflict)]
    assert len(losers) == 49
    assert all(each.current == winners[0] for each in losers)
    assert store.revision == 2


async def test_many_writers_lose_no_update(store: Store) -> None:
    """A counter that is read, raised and written, with a new try after each conflict."""
    entry = await store.create("/counter", b"0")

    async def raise_it() -> None:
        known = entry
        for _ in range(10):
            while True:
                try:
                    known = await store.update(known, b"%d" % (int(known.value) + 1))
                    break
                except Conflict as conflict:
                    known = conflict.current or entry

    await asyncio.gather(*(raise_it() for _ in range(8)))
    final = await store.get("/counter")
    assert final
    assert final.value == b"80"
    assert store.revision == 81


async def test_several_changes_happen_together(store: Store) -> None:
    old = await store.create("/old", b"1")
    kept = await store.create("/kept", b"1")
    events = await store.write(
        Change.delete(old), Change.create("/new", b"1"), Change.update(kept, b"2")
    )
    assert [event.revision if event else None for event in events] == [3, 4, 5]
    assert await store.get("/old") is None
    assert await store.get("/new") is not None


async def test_several_changes_do_not_happen_if_one_cannot(store: Store) -> None:
    entry = await store.create("/a", b"1")
    await store.update(entry, b"2")
    with pytest.raises(Conflict) as refusal:
        await store.write(Change.create("/b", b""), Change.update(entry, b"3"))
    assert refusal.value.key == "/a"
    assert await store.get("/b") is None
    assert store.revision == 2


async def test_a_write_can_depend_on_what_it_does_not_change(store: Store) -> None:
    namespace = await store.create("/namespaces/a", b"Active")
    condition = Change.unchanged(namespace)
    (unchanged, created) = await store.write(condition, Change.create("/pods/a/web", b""))
    assert unchanged is None
    assert created
    assert created.revision == 2
    await store.update(namespace, b"Terminating")
    with pytest.raises(Conflict) as refusal:
        await store.write(condition, Change.create("/pods/a/late", b""))
    assert refusal.value.key == "/namespaces/a"


async def test_a_write_can_depend_on_what_is_not_there(store: Store) -> None:
    (absent, created) = await store.write(Change.absent("/lock"), Change.create("/a", b""))
    assert absent is None
    assert created
    await store.create("/lock", b"")
    with pytest.raises(Conflict) as refusal:
        await store.write(Change.absent("/lock"), Change.create("/b", b""))
    assert refusal.value.key == "/lock"


@pytest.mark.parametrize("key", ["", "a", "/a/", "/", "/a\0b"])
async def test_a_key_must_be_a_path(store: Store, key: str) -> None:
    with pytest.raises(ValueError, match="is no key"):
        await store.create(key, b"")


async def test_one_write_cannot_change_a_key_twice(store: Store) -> None:
    with pytest.raises(ValueError, match="only once"):
        await store.write(Change.create("/a", b"1"), Change.create("/a", b"2"))


async def test_a_writer_who_goes_away_disturbs_nobody(store: Store) -> None:
    async with asyncio.TaskGroup() as tasks:
        impatient = tasks.create_task(store.create("/a", b"1"))
        tasks.create_task(store.create("/b", b"1"))
        await asyncio.sleep(0)
        impatient.cancel()
    assert (await store.get("/b")) is not None
    assert (await store.create("/c", b"1")).revision == store.revision


async def test_writes_that_wait_when_the_store_closes_are_made(home: Home) -> None:
    async with home.open() as store:
        writes = [asyncio.ensure_future(store.create(f"/{n}", b"")) for n in range(20)]
        await asyncio.sleep(0)
    assert [(await write).revision for write in writes] == list(range(1, 21))
    async with home.open() as store:
        assert store.revision == 20


async def test_a_closed_store_says_so(home: Home) -> None:
    async with home.open() as store:
        pass
    with pytest.raises(StoreClosed):
        await store.create("/a", b"")
    with pytest.raises(StoreClosed):
        await store.get("/a")
    with pytest.raises(StoreClosed):
        store.watch("/")


async def test_what_was_written_is_there_after_a_restart(home: Home) -> None:
    async with home.open() as store:
        kept = await store.create("/kept", b"1")
        kept = await store.update(kept, b"2")
        await store.delete(await store.create("/gone", b"1"))
    async with home.open() as store:
        assert store.revision == 4
        assert await store.get("/kept") == kept
        assert await store.get("/gone") is None
        with pytest.raises(Conflict) as refusal:
            await store.create("/kept", b"3")
        assert refusal.value.current == kept
        assert (await store.update(kept, b"3")).revision == 5
