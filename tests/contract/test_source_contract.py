"""What a `Source` promises, held against the double that other tests trust and against a server.

Every test runs twice: with `FaultyServer`, and with the client and the server under test. What a server
does that forgot its history is in test_client_reading.py, since it takes a server of one's own.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

import msgspec
import pytest
from tests.contract.lamps import CONFIG_MAPS, TYPED_CONFIG_MAPS, ConfigMap, a_config_map

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.base.clock import SystemClock
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Invalid
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch
from kubevirt.kube.source import ObjectList, Source
from kubevirt.kube.watch import EventType, Undecodable, WatchEvent
from kubevirt.testing.faulty_server import FaultyServer

OURS = "ours=yes"
"""A real namespace holds a config map that is not ours."""

Json = dict[str, Any]


class World(Protocol):
    """A source, and somebody else who changes what it shows."""

    namespace: str

    @property
    def source(self) -> Source: ...
    async def create(self, name: str, colour: str = "white", **labels: str) -> Json: ...
    async def update(self, name: str, patch: Json) -> Json: ...
    async def delete(self, name: str) -> None: ...


class DoubleWorld:
    namespace = "contract"

    def __init__(self) -> None:
        self.source = FaultyServer(SystemClock())

    async def create(self, name: str, colour: str = "white", **labels: str) -> Json:
        thing = a_config_map(name, {"ours": "yes", **labels}, colour=colour)
        thing["metadata"]["namespace"] = self.namespace
        return self.source.create(CONFIG_MAPS, thing)

    async def update(self, name: str, patch: Json) -> Json:
        return self.source.update(CONFIG_MAPS, Key(self.namespace, name), patch)

    async def delete(self, name: str) -> None:
        self.source.delete(CONFIG_MAPS, Key(self.namespace, name))


class ServerWorld:
    def __init__(self, client: Client, namespace: str) -> None:
        self.source = client
        self.namespace = namespace

    async def create(self, name: str, colour: str = "white", **labels: str) -> Json:
        thing = a_config_map(name, {"ours": "yes", **labels}, colour=colour)
        return await self.source.create(CONFIG_MAPS, thing, self.namespace)

    async def update(self, name: str, patch: Json) -> Json:
        return await self.source.patch(CONFIG_MAPS, name, MergePatch(patch), self.namespace)

    async def delete(self, name: str) -> None:
        await self.source.delete(CONFIG_MAPS, name, self.namespace)


@pytest.fixture(params=["double", "server"])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "double":
        return DoubleWorld()
    client = request.getfixturevalue("client")
    return ServerWorld(client, request.getfixturevalue("namespace"))


async def listed(world: World, **options: Any) -> list[ObjectList[ConfigMap]]:
    options = {"label_selector": OURS, **options}
    return [
        each async for each in world.source.pages(TYPED_CONFIG_MAPS, world.namespace, **options)
    ]


def watch(
    world: World, resource: Resource[Any] = TYPED_CONFIG_MAPS, **options: Any
) -> AsyncGenerator[WatchEvent[Any], None]:
    options = {"label_selector": OURS, "timeout_s": 30, "resource_version": None, **options}
    return world.source.watch(resource, world.namespace, **options)


def streamed(world: World, **options: Any) -> AsyncGenerator[WatchEvent[Any], None]:
    return watch(world, send_initial_events=True, resource_version_match="NotOlderThan", **options)


async def take(events: AsyncGenerator[WatchEvent[Any], None], count: int) -> list[WatchEvent[Any]]:
    """So many events that are no bookmarks."""
    taken: list[WatchEvent[Any]] = []
    async with asyncio.timeout(120):
        while len(taken) < count:
            event = await anext(events)
            if event.type is not EventType.BOOKMARK:
                taken.append(event)
    return taken


def told(events: list[WatchEvent[Any]]) -> list[str]:
    return [f"{event.type} {thing(event).metadata.name}" for event in events]


def thing(event: WatchEvent[Any]) -> Any:
    return event.object


async def test_pages_are_parts_of_one_list_of_one_version(world: World) -> None:
    for number in range(5):
        await world.create(f"cm-{number}")
    pages = await listed(world, limit=2)
    assert [[each.metadata.name for each in page.items] for page in pages] == [
        ["cm-0", "cm-1"],
        ["cm-2", "cm-3"],
        ["cm-4"],
    ]
    assert [page.is_first for page in pages] == [True, False, False]
    assert len({page.resource_version for page in pages}) == 1


async def test_an_empty_list_is_one_page_with_a_version(world: World) -> None:
    [page] = await listed(world)
    assert page.items == []
    assert page.is_first
    assert int(page.resource_version) > 0


async def test_a_watch_continues_a_list_and_repeats_nothing_of_it(world: World) -> None:
    await world.create("before")
    [page] = await listed(world)
    await world.create("after")
    await world.update("before", {"data": {"colour": "red"}})
    await world.delete("before")
    async with aclosing(watch(world, resource_version=page.resource_version)) as events:
        seen = await take(events, 3)
    assert told(seen) == ["ADDED after", "MODIFIED before", "DELETED before"]
    assert thing(seen[1]).data == {"colour": "red"}
    assert thing(seen[2]).data == {"colour": "red"}


async def test_versions_of_events_are_those_of_their_objects_and_grow(world: World) -> None:
    """A deletion too has a version of its own, or a watch could not continue after it."""
    [page] = await listed(world)
    created = await world.create("one")
    updated = await world.update("one", {"data": {"colour": "red"}})
    await world.delete("one")
    async with aclosing(watch(world, resource_version=page.resource_version)) as events:
        seen = await take(events, 3)
    versions = [int(event.resource_version) for event in seen]
    assert versions == [int(thing(event).metadata.resource_version) for event in seen]
    assert versions[0] == int(created["metadata"]["resourceVersion"])
    assert versions[1] == int(updated["metadata"]["resourceVersion"])
    assert versions[2] > versions[1]


async def test_a_watch_can_continue_after_any_event(world: World) -> None:
    [page] = await listed(world)
    for name in ("one", "two", "three"):
        await world.create(name)
    await world.delete("two")
    async with aclosing(watch(world, resource_version=page.resource_version)) as events:
        seen = await take(events, 4)
    for number, event in enumerate(seen[:-1]):
        async with aclosing(watch(world, resource_version=event.resource_version)) as events:
            assert told(await take(events, 1)) == told([seen[number + 1]])


async def test_a_change_of_nothing_is_no_event(world: World) -> None:
    created = await world.create("one")
    version = created["metadata"]["resourceVersion"]
    same = await world.update("one", {"data": {"colour": "white"}})
    assert same["metadata"]["resourceVersion"] == version
    await world.create("two")
    async with aclosing(watch(world, resource_version=version)) as events:
        assert told(await take(events, 1)) == ["ADDED two"]


async def test_a_name_taken_again_has_another_uid(world: World) -> None:
    [page] = await listed(world)
    await world.create("one")
    await world.delete("one")
    await world.create("one")
    async with aclosing(watch(world, resource_version=page.resource_version)) as events:
        seen = await take(events, 3)
    assert told(seen) == ["ADDED one", "DELETED one", "ADDED one"]
    first, gone, second = [thing(event).metadata.uid for event in seen]
    assert first == gone != second


async def test_a_watch_without_a_version_begins_with_what_there_is(world: World) -> None:
    await world.create("one")
    async with aclosing(watch(world)) as events:
        assert told(await take(events, 1)) == ["ADDED one"]
        await world.create("two")
        assert told(await take(events, 1)) == ["ADDED two"]


async def test_a_streamed_list_ends_with_a_bookmark_and_goes_on_as_a_watch(world: World) -> None:
    created = [await world.create(f"cm-{number}") for number in range(3)]
    async with aclosing(streamed(world)) as events:
        seen: list[WatchEvent[Any]] = []
        async for event in events:
            if event.type is EventType.BOOKMARK and event.initial_events_end:
                break
            seen.append(event)
        assert sorted(told(seen)) == ["ADDED cm-0", "ADDED cm-1", "ADDED cm-2"]
        assert event.object is None
        assert int(event.resource_version) >= int(created[-1]["metadata"]["resourceVersion"])
        await world.delete("cm-1")
        assert told(await take(events, 1)) == ["DELETED cm-1"]


async def test_a_streamed_list_must_say_how_fresh(world: World) -> None:
    with pytest.raises(Invalid, match="sendInitialEvents"):
        await anext(watch(world, send_initial_events=True))


async def test_a_watch_ends_in_good_order_when_its_time_is_over(world: World) -> None:
    [page] = await listed(world)
    async with asyncio.timeout(120):
        events = [
            each async for each in watch(world, resource_version=page.resource_version, timeout_s=1)
        ]
    assert [event for event in events if event.type is not EventType.BOOKMARK] == []


async def test_a_watch_without_news_is_silent_but_for_bookmarks(world: World) -> None:
    """A server may say how far it is, though none of the changes was for this watch. When it does is
    its own business: a short watch often ends without one.
    """
    [page] = await listed(world)
    for number in range(3):
        await world.create(f"not-ours-{number}", ours="no")
    options: dict[str, Any] = {"resource_version": page.resource_version, "timeout_s": 6}
    silent = [event async for event in watch(world, **options, allow_bookmarks=False)]
    assert silent == []
    events = [event async for event in watch(world, **options)]
    assert {event.type for event in events} <= {EventType.BOOKMARK}
    assert all(int(each.resource_version) >= int(page.resource_version) for each in events)


async def test_a_watch_hears_how_far_it_is_before_it_ends(world: World) -> None:
    """Whoever watches again goes on from there, though nothing of what happened was for them."""
    [page] = await listed(world)
    watching = watch(world, resource_version=page.resource_version, timeout_s=6)
    async with aclosing(watching) as events:
        await world.create("one")
        assert told(await take(events, 1)) == ["ADDED one"]
        unseen = await world.create("not-ours", ours="no")
        left = [event async for event in events]
    assert {event.type for event in left} == {EventType.BOOKMARK}
    assert int(left[-1].resource_version) >= int(unseen["metadata"]["resourceVersion"])


async def test_a_watch_from_the_future_is_silent_until_then(world: World) -> None:
    [page] = await listed(world)
    future = str(int(page.resource_version) + 1_000_000)
    watching = watch(world, resource_version=future, timeout_s=4)
    async with aclosing(watching) as events:
        await world.create("now")
        assert [event async for event in events] == []


async def test_an_object_enters_and_leaves_the_sight_of_a_selector(world: World) -> None:
    await world.create("one", room="study")
    [page] = await listed(world, label_selector=f"{OURS},room=study")
    await world.update("one", {"metadata": {"labels": {"room": "hall"}}})
    await world.update("one", {"data": {"colour": "unseen"}})
    back = await world.update("one", {"metadata": {"labels": {"room": "study"}}})
    selecting = watch(
        world, resource_version=page.resource_version, label_selector=f"{OURS},room=study"
    )
    async with aclosing(selecting) as events:
        seen = await take(events, 2)
    assert told(seen) == ["DELETED one", "ADDED one"]
    left, entered = seen
    # As it was when it was last seen, at the version at which it left.
    assert thing(left).metadata.labels["room"] == "study"
    assert thing(left).data == {"colour": "white"}
    assert int(thing(left).metadata.resource_version) > int(page.resource_version)
    assert entered.resource_version == back["metadata"]["resourceVersion"]
    assert thing(left).metadata.uid == thing(entered).metadata.uid


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("room=study", ["desk"]),
        ("room==study", ["desk"]),
        ("room!=study", ["hall", "plain"]),
        ("room", ["desk", "hall"]),
        ("!room", ["plain"]),
        ("room,room!=study", ["hall"]),
    ],
)
async def test_labels_select(world: World, selector: str, expected: list[str]) -> None:
    await world.create("desk", room="study")
    await world.create("hall", room="hall")
    await world.create("plain")
    [page] = await listed(world, label_selector=f"{OURS},{selector}")
    assert [each.metadata.name for each in page.items] == expected


async def test_fields_select(world: World) -> None:
    await world.create("one")
    await world.create("two")
    [page] = await listed(world, field_selector="metadata.name=two")
    assert [each.metadata.name for each in page.items] == ["two"]
    [page] = await listed(world, field_selector="metadata.name!=two")
    assert [each.metadata.name for each in page.items] == ["one"]


async def test_metadata_alone_can_be_listed_and_watched(world: World) -> None:
    created = await world.create("one", room="study")
    resource = CONFIG_MAPS.metadata_only
    pages = world.source.pages(resource, world.namespace, label_selector=OURS)
    [page] = [each async for each in pages]
    [item] = page.items
    assert item.metadata.labels["room"] == "study"
    version = created["metadata"]["resourceVersion"]
    await world.delete("one")
    async with aclosing(watch(world, resource, resource_version=version)) as events:
        [event] = await take(events, 1)
    assert told([event]) == ["DELETED one"]
    assert thing(event).metadata.uid == item.metadata.uid


class NumberMap(msgspec.Struct):
    """A type that the objects here do not fit."""

    metadata: ObjectMeta
    data: dict[str, int]


async def test_an_object_that_does_not_fit_its_type_still_says_which_it_is(world: World) -> None:
    created = await world.create("one")
    resource = CONFIG_MAPS.read_as(NumberMap)
    pages = world.source.pages(resource, world.namespace, label_selector=OURS)
    [page] = [each async for each in pages]
    assert page.items == []
    [listed] = page.undecodable
    await world.delete("one")
    version = created["metadata"]["resourceVersion"]
    async with aclosing(watch(world, resource, resource_version=version)) as events:
        [event] = await take(events, 1)
    assert event.type is EventType.DELETED
    watched = event.object
    assert isinstance(watched, Undecodable)
    for found in (listed, watched):
        assert found.metadata.name == "one"
        assert found.metadata.namespace == world.namespace
        assert found.metadata.uid == created["metadata"]["uid"]
        assert "data" in found.error
        assert "white" not in found.error
    assert listed.metadata.resource_version == version
    assert event.resource_version == watched.metadata.resource_version != version
