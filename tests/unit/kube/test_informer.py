"""What an informer shows and tells while nothing goes wrong."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from tests.lamps import LAMPS, Lamp, Listener, key, lamp, running

from kubevirt.base.clock import Clock
from kubevirt.kube.cache.store import Change
from kubevirt.kube.errors import UndecodableObject
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.testing.faulty_server import FaultyServer

pytestmark = pytest.mark.virtual_time


def by_colour(lamp: Lamp) -> str | None:
    return lamp.colour


@pytest.fixture
def server(clock: Clock) -> FaultyServer:
    return FaultyServer(clock)


@pytest.fixture
async def informer(server: FaultyServer, clock: Clock) -> AsyncIterator[Informer[Lamp]]:
    """One that runs already, and hears of changes as soon as the test waits."""
    informer = Informer(server, LAMPS, clock=clock, indexes={"colour": by_colour})
    async with running(informer):
        yield informer


async def test_a_synced_informer_has_what_the_server_has(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk"))
    server.create(LAMPS, lamp("hall", "red"))
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await informer.wait_synced()
        assert sorted(each.metadata.name for each in informer) == ["desk", "hall"]
        assert len(informer) == 2
        hall = informer.get(key("hall"))
        assert hall is not None
        assert hall.colour == "red"
        assert informer.get(key("nowhere")) is None


async def test_an_empty_collection_is_synced_too(informer: Informer[Lamp]) -> None:
    await informer.wait_synced()
    assert len(informer) == 0


async def test_changes_arrive_without_another_list(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    await informer.wait_synced()
    server.create(LAMPS, lamp("desk"))
    server.update(LAMPS, key("desk"), {"colour": "blue"})
    server.create(LAMPS, lamp("hall"))
    server.delete(LAMPS, key("hall"))
    await clock.sleep(1)
    assert [each.colour for each in informer] == ["blue"]
    assert informer.counts["lists"] == 1
    assert server.requests == ["stream list"]


async def test_a_server_that_cannot_stream_a_list_is_read_in_pages(
    server: FaultyServer, clock: Clock
) -> None:
    server.streams_lists = False
    for number in range(1200):
        server.create(LAMPS, lamp(f"lamp{number}"))
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await informer.wait_synced()
        assert len(informer) == 1200
        server.delete(LAMPS, key("lamp7"))
        await clock.sleep(1)
        assert len(informer) == 1199
    assert server.requests == [
        "stream list",
        "list limit=500",
        "list continue",
        "list continue",
        "watch 1207",
    ]


async def test_a_handler_hears_each_transition_once_and_in_order(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    listener = Listener()
    informer.add_handler(listener)
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    server.update(LAMPS, key("desk"), {"colour": "blue"})
    server.update(LAMPS, key("desk"), {"colour": "green"})
    server.delete(LAMPS, key("desk"))
    await clock.sleep(1)
    assert listener.heard == [
        "added desk white",
        "updated desk blue",
        "updated desk green",
        "deleted desk green",
    ]
    assert [change.old and change.old.colour for change in listener.changes] == [
        None,
        "white",
        "blue",
        "green",
    ]


async def test_a_name_taken_again_is_a_deletion_and_an_addition(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    """Also when both happened while nobody looked, so that no event says so."""
    server.create(LAMPS, lamp("desk", "old"))
    await clock.sleep(1)
    listener = Listener()
    informer.add_handler(listener)
    server.go_down()
    server.delete(LAMPS, key("desk"))
    server.create(LAMPS, lamp("desk", "new"))
    server.compact()
    server.come_back()
    await clock.sleep(10)
    assert listener.heard == ["added desk old", "deleted desk old", "added desk new"]
    assert informer.counts["lists"] == 2


async def test_a_handler_that_comes_late_hears_what_is_there_first(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    server.update(LAMPS, key("desk"), {"colour": "blue"})
    await clock.sleep(1)
    listener = Listener()
    informer.add_handler(listener)
    assert listener.heard == ["added desk blue"]
    server.delete(LAMPS, key("desk"))
    await clock.sleep(1)
    assert listener.heard == ["added desk blue", "deleted desk blue"]


async def test_a_handler_added_by_a_handler_hears_no_change_twice(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    await informer.wait_synced()
    second = Listener()

    def adds_another(change: Change[Lamp]) -> None:
        if not second.changes:
            informer.add_handler(second)

    informer.add_handler(adds_another)
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    assert second.heard == ["added desk white"]


async def test_a_removed_handler_hears_no_more(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    await informer.wait_synced()
    listener = Listener()
    remove = informer.add_handler(listener)
    remove()
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    assert listener.heard == []
    assert len(informer) == 1


async def test_a_handler_reads_what_it_was_told(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    seen: list[tuple[Lamp | None, int]] = []

    def look(change: Change[Lamp]) -> None:
        found = informer.get(change.key)
        assert found is change.new
        seen.append((found, len(informer.by_index("colour", "white"))))

    informer.add_handler(look)
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    server.delete(LAMPS, key("desk"))
    await clock.sleep(1)
    assert [count for _, count in seen] == [1, 0]


async def test_a_handler_that_raises_harms_nobody_else(
    server: FaultyServer,
    informer: Informer[Lamp],
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(change: Change[Lamp]) -> None:
        raise ZeroDivisionError

    informer.add_handler(broken)
    listener = Listener()
    informer.add_handler(listener)
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    assert listener.heard == ["added desk white"]
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "handler failed key=home/desk" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert informer.last_error is None


async def test_an_index_follows_its_objects(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    def found(colour: str) -> list[str]:
        return [each.metadata.name for each in informer.by_index("colour", colour)]

    server.create(LAMPS, lamp("a", "red"))
    server.create(LAMPS, lamp("b", "red"))
    server.create(LAMPS, lamp("c", "red"))
    await clock.sleep(1)
    assert found("red") == ["a", "b", "c"]
    server.update(LAMPS, key("b"), {"colour": "blue"})
    server.delete(LAMPS, key("a"))
    await clock.sleep(1)
    assert found("red") == ["c"]
    assert found("blue") == ["b"]
    server.delete(LAMPS, key("c"))
    await clock.sleep(1)
    assert found("red") == []


async def test_objects_are_found_by_the_uid_of_their_controller(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    owner = {"apiVersion": "v1", "kind": "House", "name": "villa", "uid": "villa-uid"}
    server.create(LAMPS, lamp("mine", ownerReferences=[{**owner, "controller": True}]))
    server.create(LAMPS, lamp("merely-owned", ownerReferences=[owner]))
    server.create(LAMPS, lamp("free"))
    await clock.sleep(1)
    assert [each.metadata.name for each in informer.owned_by("villa-uid")] == ["mine"]
    assert informer.owned_by("other") == []


async def test_a_broken_index_leaves_the_object_findable_by_key(
    server: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(lamp: Lamp) -> str:
        raise ZeroDivisionError

    server.create(LAMPS, lamp("desk"))
    informer = Informer(server, LAMPS, clock=clock, indexes={"broken": broken})
    async with running(informer):
        await informer.wait_synced()
        assert informer.get(key("desk")) is not None
        assert informer.by_index("broken", "") == []
    assert "index failed index=broken" in caplog.text


async def test_an_object_that_leaves_the_selector_is_deleted_and_may_come_back(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk", labels={"room": "study"}))
    server.create(LAMPS, lamp("sink", labels={"room": "kitchen"}))
    informer = Informer(server, LAMPS, clock=clock, label_selector="room=study")
    listener = Listener()
    informer.add_handler(listener)
    async with running(informer):
        await informer.wait_synced()
        server.update(LAMPS, key("desk"), {"metadata": {"labels": {"room": "kitchen"}}})
        server.update(LAMPS, key("sink"), {"colour": "blue"})
        await clock.sleep(1)
        assert len(informer) == 0
        server.update(LAMPS, key("desk"), {"metadata": {"labels": {"room": "study"}}})
        await clock.sleep(1)
    assert listener.heard == ["added desk white", "deleted desk white", "added desk white"]


async def test_a_namespace_and_a_field_narrow_what_is_seen(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk", "red"))
    server.create(LAMPS, lamp("hall", "blue"))
    server.create(LAMPS, {"metadata": {"name": "desk", "namespace": "office"}, "colour": "red"})
    informer = Informer(server, LAMPS, clock=clock, namespace="home", field_selector="colour=red")
    async with running(informer):
        await informer.wait_synced()
        assert [Key.of(each) for each in informer] == [key("desk")]


async def test_metadata_only_keeps_metadata_only(server: FaultyServer, clock: Clock) -> None:
    server.create(LAMPS, lamp("desk", labels={"room": "study"}))
    informer = Informer(server, LAMPS.metadata_only, clock=clock)
    async with running(informer):
        await informer.wait_synced()
        desk = informer.get(key("desk"))
    assert desk is not None
    assert desk.metadata.labels == {"room": "study"}
    assert not hasattr(desk, "colour")


async def test_an_object_that_cannot_be_read_is_neither_deleted_nor_used(
    server: FaultyServer,
    informer: Informer[Lamp],
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    listener = Listener()
    informer.add_handler(listener)
    server.create(LAMPS, lamp("desk"))
    server.create(LAMPS, {**lamp("hall"), "colour": 7})
    await clock.sleep(1)
    server.update(LAMPS, key("desk"), {"colour": 8})
    await clock.sleep(1)

    with pytest.raises(UndecodableObject, match=r"lamps.example.io home/desk cannot be read"):
        informer.get(key("desk"))
    with pytest.raises(UndecodableObject, match="home/hall"):
        informer.get(key("hall"))
    assert [each.colour for each in informer] == ["white"]
    assert listener.heard == ["added desk white"]
    assert set(informer.unreadable) == {key("desk"), key("hall")}
    assert informer.counts["undecodable"] == 2
    assert caplog.text.count("object cannot be read") == 2

    server.update(LAMPS, key("desk"), {"colour": "blue"})
    server.update(LAMPS, key("hall"), {"colour": "red"})
    await clock.sleep(1)
    assert listener.heard == ["added desk white", "updated desk blue", "added hall red"]
    assert not informer.unreadable


async def test_an_unreadable_object_is_logged_once_per_version_however_often_it_is_listed(
    server: FaultyServer,
    informer: Informer[Lamp],
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.create(LAMPS, {**lamp("hall"), "colour": 7})
    await clock.sleep(1)
    for _ in range(3):
        server.go_down()
        server.create(LAMPS, lamp(f"lamp{server.history.number}"))
        server.compact()
        server.come_back()
        await clock.sleep(60)
    assert informer.counts["lists"] == 4
    assert caplog.text.count("object cannot be read") == 1
    server.update(LAMPS, key("hall"), {"colour": 9})
    await clock.sleep(1)
    assert caplog.text.count("object cannot be read") == 2


async def test_an_unreadable_object_can_be_deleted(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    listener = Listener()
    informer.add_handler(listener)
    server.create(LAMPS, lamp("desk"))
    server.create(LAMPS, {**lamp("hall"), "colour": 7})
    await clock.sleep(1)
    server.update(LAMPS, key("desk"), {"colour": 8})
    server.delete(LAMPS, key("desk"))
    server.delete(LAMPS, key("hall"))
    await clock.sleep(1)
    assert listener.heard == ["added desk white", "deleted desk white"]
    assert informer.get(key("desk")) is None
    assert informer.get(key("hall")) is None


async def test_an_unreadable_successor_ends_its_predecessor(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    """Another UID under the same name proves that the first object is gone."""
    listener = Listener()
    informer.add_handler(listener)
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    server.go_down()
    server.delete(LAMPS, key("desk"))
    server.create(LAMPS, {**lamp("desk"), "colour": 7})
    server.compact()
    server.come_back()
    await clock.sleep(10)
    assert listener.heard == ["added desk white", "deleted desk white"]
    with pytest.raises(UndecodableObject):
        informer.get(key("desk"))


async def test_an_object_without_a_readable_name_makes_the_informer_list_again(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    listener = Listener()
    informer.add_handler(listener)
    server.update(LAMPS, key("desk"), {"metadata": {"labels": 7}})
    await clock.sleep(10)
    assert informer.counts["lists"] == 2
    assert [each.colour for each in informer] == ["white"]
    assert listener.heard == ["added desk white"]


async def test_a_cancelled_informer_leaves_no_task_and_no_stream_and_can_go_on(
    server: FaultyServer, clock: Clock
) -> None:
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await informer.wait_synced()
        assert server.open_streams == 1
    assert server.open_streams == 0
    assert len(asyncio.all_tasks()) == 1
    server.create(LAMPS, lamp("desk"))
    async with running(informer):
        await clock.sleep(1)
    assert len(informer) == 1
    assert server.requests == ["stream list", "watch 7"]


async def test_an_informer_runs_once_at_a_time(informer: Informer[Lamp]) -> None:
    await informer.wait_synced()
    with pytest.raises(RuntimeError, match="runs already"):
        await informer.run()


async def test_others_get_their_turn_while_a_long_list_is_read(
    server: FaultyServer, clock: Clock
) -> None:
    for number in range(2000):
        server.create(LAMPS, lamp(f"lamp{number}"))
    informer = Informer(server, LAMPS, clock=clock)
    sizes: list[int] = []

    async def other() -> None:
        while not informer.is_synced:
            sizes.append(len(informer))
            await asyncio.sleep(0)

    async with running(informer):
        await other()
    assert len(set(sizes)) > 5
