"""Garbage collection under virtual time: who goes, who stays, who waits."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.collecting import HOLD, HOME, World, reference

from kubevirt.apiserver.collector.graph import Graph
from kubevirt.apiserver.collector.owners import Owners
from kubevirt.apiserver.collector.strays import MOST_EXPLAINED
from kubevirt.apiserver.collector.traits import Reference
from kubevirt.apiserver.storage.errors import StoreFull
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.apiserver.storage.watching import WatchSettings
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background

pytestmark = pytest.mark.virtual_time

Object = dict[str, Any]


@pytest.fixture
async def world(clock: Clock) -> AsyncIterator[World]:
    async with World(clock) as world:
        yield world


async def test_dependants_of_dependants_go_with_their_owner(world: World) -> None:
    above = await world.create("0")
    for depth in range(1, 30):
        above = await world.create(str(depth), above)
    await world.delete("0")
    await world.settle()
    assert await world.names() == set()


async def test_what_belongs_to_nobody_stays(world: World) -> None:
    await world.create("free")
    await world.delete(str((await world.create("owner"))["metadata"]["name"]))
    await world.settle()
    assert await world.names() == {"free"}


async def test_a_dependant_of_somebody_who_never_was_goes(world: World) -> None:
    owner = await world.create("owner")
    stranger = reference(owner, uid="somebody-else")
    await world.create("part", stranger)
    await world.settle()
    assert await world.names() == {"owner"}


async def test_an_owner_under_the_same_name_is_another(world: World) -> None:
    owner = await world.create("owner")
    await world.create("part", owner)
    await world.delete("owner")
    await world.create("owner")
    await world.settle()
    assert await world.names() == {"owner"}


async def test_with_an_owner_left_only_the_other_reference_goes(world: World) -> None:
    first, second = await world.create("first"), await world.create("second")
    await world.create("part", first, second)
    await world.delete("first")
    await world.settle()
    assert await world.owners("part") == ["second"]


async def test_an_owner_of_a_kind_that_nobody_serves_might_be_there(world: World) -> None:
    absent = {"apiVersion": "example.org/v1", "kind": "Lamp", "name": "l", "uid": "1"}
    other_version = {"apiVersion": "v9", "kind": "ConfigMap", "name": "c", "uid": "2"}
    await world.create("part", absent)
    await world.create("other", other_version)
    await world.settle()
    assert await world.names() == {"part", "other"}


async def test_without_the_owner_that_might_be_there_the_others_count(world: World) -> None:
    absent = {"apiVersion": "example.org/v1", "kind": "Lamp", "name": "l", "uid": "1"}
    stranger = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "2"}
    await world.create("part", absent, stranger)
    await world.settle()
    assert await world.owners("part") == ["l", "c"]
    await world.patch("part", {"ownerReferences": [stranger]})
    await world.settle()
    assert await world.names() == set()


async def test_an_owner_without_namespace_owns_everywhere(world: World) -> None:
    owner = await world.create("owner", plural="clusterroles", namespace="")
    await world.create("part", owner)
    await world.create("role", owner, plural="clusterroles", namespace="")
    await world.settle()
    assert await world.names() == {"part"}
    await world.delete("owner", plural="clusterroles", namespace="")
    await world.settle()
    assert await world.names() == set()
    assert await world.names("clusterroles", "") == set()


async def test_what_has_no_namespace_is_not_collected_for_an_owner_that_has(world: World) -> None:
    owner = await world.create("owner")
    await world.create("role", owner, plural="clusterroles", namespace="")
    await world.delete("owner")
    await world.settle()
    assert await world.names("clusterroles", "") == {"role"}


async def test_a_held_dependant_is_marked_and_waits(world: World) -> None:
    owner = await world.create("owner")
    await world.create("part", owner, finalizers=[HOLD])
    await world.delete("owner")
    await world.settle()
    part = await world.get("configmaps", "part")
    assert part is not None
    assert part["metadata"]["deletionTimestamp"]
    await world.patch("part", {"finalizers": None})
    await world.settle()
    assert await world.names() == set()


async def test_foreground_waits_for_those_that_block(world: World) -> None:
    owner = await world.create("owner")
    await world.create("blocking", owner, finalizers=[HOLD])
    await world.create("other", owner, finalizers=[HOLD], blocks=False)
    await world.delete("owner", "Foreground")
    await world.settle()
    assert await world.names() == {"owner", "blocking", "other"}
    await world.patch("blocking", {"finalizers": None})
    await world.settle()
    assert await world.names() == {"other"}


async def test_a_dependant_that_no_longer_blocks_lets_its_owner_go(world: World) -> None:
    owner = await world.create("owner")
    await world.create("part", owner, finalizers=[HOLD])
    await world.delete("owner", "Foreground")
    await world.settle()
    unblocked = reference(owner, blockOwnerDeletion=False)
    await world.patch("part", {"ownerReferences": [unblocked]})
    await world.settle()
    assert await world.names() == {"part"}


async def test_foreground_goes_on_below(world: World) -> None:
    owner = await world.create("owner")
    middle = await world.create("middle", owner)
    await world.create("bottom", middle, finalizers=[HOLD])
    await world.delete("owner", "Foreground")
    await world.settle()
    assert await world.names() == {"owner", "middle", "bottom"}
    await world.patch("bottom", {"finalizers": None})
    await world.settle()
    assert await world.names() == set()


async def test_with_another_owner_a_dependant_of_a_waiting_one_stays(world: World) -> None:
    going, staying = await world.create("going"), await world.create("staying")
    await world.create("part", going, staying)
    await world.delete("going", "Foreground")
    await world.settle()
    assert await world.names() == {"staying", "part"}
    assert await world.owners("part") == ["staying"]


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_a_circle_goes_as_a_whole(world: World, policy: str) -> None:
    first = await world.create("first")
    second = await world.create("second", first)
    third = await world.create("third", second)
    await world.patch("first", {"ownerReferences": [reference(third, blockOwnerDeletion=True)]})
    await world.settle()
    assert await world.names() == {"first", "second", "third"}
    await world.delete("second", policy)
    await world.settle()
    assert await world.names() == set()


async def test_an_owner_of_itself_can_be_deleted(world: World) -> None:
    self_made = await world.create("own")
    await world.patch("own", {"ownerReferences": [reference(self_made, blockOwnerDeletion=True)]})
    await world.delete("own", "Foreground")
    await world.settle()
    assert await world.names() == set()


async def test_orphans_stay_without_their_owner(world: World) -> None:
    owner, other = await world.create("owner"), await world.create("other")
    await world.create("part", owner)
    await world.create("shared", owner, other)
    await world.create("held", owner, finalizers=[HOLD])
    await world.delete("owner", "Orphan")
    await world.settle()
    assert await world.names() == {"other", "part", "shared", "held"}
    assert await world.owners("part") == []
    assert await world.owners("shared") == ["other"]
    assert await world.owners("held") == []


async def test_an_owner_does_not_wait_for_strays_that_it_never_owned(world: World) -> None:
    await world.make("namespaces", {"metadata": {"name": "away"}}, "")
    owner = await world.create("owner")
    await world.create("stray", owner, namespace="away", finalizers=[HOLD])
    await world.create("role", owner, plural="clusterroles", namespace="", finalizers=[HOLD])
    await world.delete("owner", "Orphan")
    await world.settle()
    assert await world.names() == set()


async def test_an_owner_in_another_namespace_is_none_and_an_event_says_so(world: World) -> None:
    await world.make("namespaces", {"metadata": {"name": "away"}}, "")
    owner = await world.create("owner", namespace="away")
    part = await world.create("part", owner)
    await world.settle()
    assert await world.names() == set()
    assert await world.names(namespace="away") == {"owner"}
    [name] = await world.names("events")
    event = await world.get("events", name)
    assert event is not None
    uid = owner["metadata"]["uid"]
    assert event["reason"] == "OwnerRefInvalidNamespace"
    assert event["message"] == (
        f"ownerRef [v1/ConfigMap, namespace: {HOME}, name: owner, uid: {uid}] "
        f'does not exist in namespace "{HOME}"'
    )
    assert event["involvedObject"]["uid"] == part["metadata"]["uid"]


async def test_an_owner_in_the_last_of_many_namespaces_is_found_to_be_elsewhere(
    world: World,
) -> None:
    for number in range(300):
        await world.make("namespaces", {"metadata": {"name": f"away-{number:03}"}}, "")
    owner = await world.create("owner", namespace="away-299")
    await world.create("part", owner)
    await world.settle()
    [name] = await world.names("events")
    event = await world.get("events", name)
    assert event is not None
    assert event["reason"] == "OwnerRefInvalidNamespace"


async def test_of_many_owners_that_are_elsewhere_the_first_ones_are_told(world: World) -> None:
    await world.make("namespaces", {"metadata": {"name": "away"}}, "")
    owners = [await world.create(f"owner-{n}", namespace="away") for n in range(100)]
    await world.create("part", *owners)
    await world.settle()
    assert len(await world.names("events")) == MOST_EXPLAINED
    assert await world.get("configmaps", "part") is None


async def test_while_an_owner_is_looked_for_everywhere_others_have_their_turn(world: World) -> None:
    for number in range(300):
        await world.make("namespaces", {"metadata": {"name": f"away-{number:03}"}}, "")
    owners = Owners(world.registry, Graph())
    nobody = Reference(api_version="v1", kind="ConfigMap", name="nobody", uid="none")
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with background(others()):
        assert not await owners.is_elsewhere(nobody, HOME)
    assert turns >= 300 // 64


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
async def test_what_was_begun_before_a_crash_is_ended_after_it(clock: Clock, policy: str) -> None:
    world = World(clock)
    await world.start(collects=False)
    owner = await world.create("owner")
    middle = await world.create("middle", owner)
    await world.create("bottom", middle)
    await world.delete("owner", policy)
    await world.crash()
    await world.start()
    await world.settle()
    left = {"middle", "bottom"} if policy == "Orphan" else set()
    assert await world.names() == left
    await world.crash()


async def test_a_kind_that_comes_back_settles_who_was_waited_for(world: World) -> None:
    crd = {
        "metadata": {"name": "lamps.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "lamps", "kind": "Lamp"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    absent = {"apiVersion": "example.org/v1", "kind": "Lamp", "name": "l", "uid": "1"}
    await world.create("part", absent)
    await world.settle()
    assert await world.names() == {"part"}
    await world.make("customresourcedefinitions", crd, "")
    await world.settle()
    assert await world.names() == set()


async def test_dependants_of_a_kind_go_with_the_kind(world: World) -> None:
    await test_a_kind_that_comes_back_settles_who_was_waited_for(world)
    lamp = await world.create("lamp", plural="lamps")
    await world.create("part", lamp)
    await world.delete("lamps.example.org", plural="customresourcedefinitions", namespace="")
    await world.settle()
    assert await world.names() == set()


async def test_a_watch_that_was_cut_loses_nothing(clock: Clock) -> None:
    """With a buffer of one event, almost every write cuts it."""
    store = StoreSettings(watch=WatchSettings(buffer_events=1))
    async with World(clock, store=store) as world:
        owner = await world.create("owner")
        for number in range(20):
            await world.create(f"part-{number}", owner)
        await world.delete("owner", "Foreground")
        await world.settle()
        assert await world.names() == set()


async def test_somebody_who_undoes_the_work_does_not_make_it_busy(world: World) -> None:
    """Here: who puts back the reference to an owner that is gone, beside one that is there."""
    gone, there = await world.create("gone"), await world.create("there")
    await world.delete("gone")
    references = [reference(gone), reference(there)]
    await world.create("part", *references)
    before = world.registry.store.revision
    for _ in range(20):
        await world.patch("part", {"ownerReferences": references})
        await world.clock.sleep(0.1)
    assert world.registry.store.revision - before <= 40


async def test_what_cannot_be_read_stays_and_so_does_what_belongs_to_it(world: World) -> None:
    owner = await world.create("owner")
    await world.create("part", owner)
    entry = await world.registry.store.get(world.call("get", "configmaps", "owner").key)
    assert entry is not None
    broken = entry.value.replace(b'"metadata":{', b'"metadata":{"finalizers":7,')
    await world.registry.store.update(entry, broken)
    await world.patch("part", {"ownerReferences": [reference(owner, blockOwnerDeletion=True)]})
    await world.crash()
    await world.start()
    await world.settle()
    assert await world.names() == {"owner", "part"}


async def test_an_object_with_very_many_owners_is_looked_at_in_pieces(world: World) -> None:
    owner = await world.create("owner")
    strangers = [reference(owner, name=f"s-{n}", uid=f"s-{n}") for n in range(1000)]
    await world.create("part", reference(owner), *strangers)
    await world.settle()
    assert await world.owners("part") == ["owner"]


async def test_a_full_disk_is_waited_for(clock: Clock) -> None:
    world = World(clock)
    await world.start(collects=False)
    owner = await world.create("owner")
    await world.create("part", owner)
    await world.delete("owner")
    world.disk.fault = StoreFull("no room")
    await world.collect()
    await world.settle()
    assert await world.names() == {"part"}
    world.disk.fault = None
    await world.settle()
    assert await world.names() == set()
    await world.crash()
