"""Garbage collection: what goes with its owner, what waits for what, and what must stay."""

import asyncio
from typing import Any

import pytest
from tests.contract.conftest import NAMESPACES, Mortal, config_of
from tests.contract.family import HOLD, Family, reference
from tests.contract.lamps import a_lamp

from clusterup import waiting
from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client

Object = dict[str, Any]

SECRETS = Resource("", "v1", "secrets", "Secret", True, dict[str, Any])
EVENTS = Resource("", "v1", "events", "Event", True, dict[str, Any])
CLUSTER_ROLES = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False, dict[str, Any]
)
DISCOVERY_LIMIT_S = 120.0
"""Kubernetes' collector looks for new kinds every thirty seconds."""


@pytest.fixture
def family(client: Client, namespace: str) -> Family:
    return Family(client, namespace)


# The owner is gone


async def test_dependants_of_dependants_go_with_their_owner(family: Family) -> None:
    owner = await family.create("owner")
    secret = await family.create("part", owner, kind=SECRETS)
    await family.create("part", secret, blocks=False)
    await family.delete("owner")
    await family.has_gone("part", kind=SECRETS)
    await family.has_gone("part")


async def test_a_dependant_of_an_owner_that_never_was_goes(family: Family) -> None:
    owner = await family.create("owner")
    await family.create("part", reference(owner, uid="somebody-else"))
    await family.create("other", reference(owner, name="nobody", uid="never-was"))
    await family.has_gone("part", "other")
    assert await family.get("owner")


async def test_an_owner_under_the_same_name_is_another(family: Family) -> None:
    owner = await family.create("owner")
    await family.create("part", owner)
    await family.delete("owner")
    await family.create("owner")
    await family.has_gone("part")
    assert await family.get("owner")


async def test_with_an_owner_left_only_the_other_reference_goes(family: Family) -> None:
    first, second = await family.create("first"), await family.create("second")
    await family.create("part", first, second)
    await family.delete("first")
    await family.has_owners("part", "second")
    await family.delete("second")
    await family.has_gone("part")


async def test_an_owner_of_a_kind_that_nobody_serves_might_be_there(family: Family) -> None:
    absent = {"apiVersion": "absent.example/v1", "kind": "Absent", "name": "a", "uid": "1"}
    version = {"apiVersion": "v9", "kind": "ConfigMap", "name": "b", "uid": "2"}
    await family.create("part", absent)
    await family.create("other", version)
    await family.looked_at()
    assert await family.get("part")
    assert await family.get("other")


async def test_a_held_dependant_is_marked_and_waits(family: Family) -> None:
    owner = await family.create("owner")
    await family.create("part", owner, finalizers=[HOLD])
    await family.delete("owner")
    assert (await family.is_marked("part"))["finalizers"] == [HOLD]
    await family.patch("part", {"finalizers": None})
    await family.has_gone("part")


async def test_a_dependant_that_is_to_leave_its_own_behind_does_so(family: Family) -> None:
    owner = await family.create("owner")
    middle = await family.create("middle", owner, finalizers=["orphan"])
    await family.create("bottom", middle)
    await family.delete("owner")
    await family.has_gone("middle")
    await family.has_owners("bottom")


# The owner waits


async def test_an_owner_waits_in_the_foreground_for_those_that_block_it(family: Family) -> None:
    owner = await family.create("owner")
    await family.create("blocking", owner, finalizers=[HOLD])
    await family.create("other", owner, finalizers=[HOLD], blocks=False)
    await family.delete("owner", "Foreground")
    await asyncio.gather(family.is_marked("blocking"), family.is_marked("other"))
    assert (await family.is_marked("owner"))["finalizers"] == ["foregroundDeletion"]
    await family.looked_at()
    assert await family.get("owner")
    await family.patch("blocking", {"finalizers": None})
    await family.has_gone("owner", "blocking")
    assert await family.get("other")
    await family.patch("other", {"finalizers": None})


async def test_the_foreground_reaches_down_to_the_last(family: Family) -> None:
    owner = await family.create("owner")
    middle = await family.create("middle", owner)
    await family.create("bottom", middle, finalizers=[HOLD])
    await family.delete("owner", "Foreground")
    await family.is_marked("bottom")
    assert (await family.is_marked("middle"))["finalizers"] == ["foregroundDeletion"]
    assert await family.get("owner")
    await family.patch("bottom", {"finalizers": None})
    await family.has_gone("owner", "middle", "bottom")


async def test_an_owner_without_dependants_waits_for_nobody(family: Family) -> None:
    await family.create("owner")
    await family.delete("owner", "Foreground")
    await family.has_gone("owner")


async def test_a_dependant_with_another_owner_is_let_go(family: Family) -> None:
    going, staying = await family.create("going"), await family.create("staying")
    await family.create("part", going, staying)
    await family.delete("going", "Foreground")
    await family.has_gone("going")
    await family.has_owners("part", "staying")


async def test_a_dependant_that_no_longer_blocks_lets_its_owner_go(family: Family) -> None:
    owner = await family.create("owner")
    await family.create("part", owner, finalizers=[HOLD])
    await family.delete("owner", "Foreground")
    await family.is_marked("part")
    unblocked = reference(owner, blockOwnerDeletion=False)
    await family.patch("part", {"ownerReferences": [unblocked]})
    await family.has_gone("owner")
    await family.patch("part", {"finalizers": None})


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_a_circle_goes_as_a_whole(family: Family, policy: str) -> None:
    first = await family.create("first")
    second = await family.create("second", first)
    third = await family.create("third", second)
    await family.patch("first", {"ownerReferences": [reference(third, blockOwnerDeletion=True)]})
    await family.looked_at()
    assert await family.get("first")
    await family.delete("second", policy)
    await family.has_gone("first", "second", "third")


# The owner leaves them behind


async def test_orphans_stay_without_their_owner(family: Family) -> None:
    owner, other = await family.create("owner"), await family.create("other")
    await family.create("part", owner)
    await family.create("shared", owner, other)
    await family.create("secret", owner, kind=SECRETS)
    await family.delete("owner", "Orphan")
    await family.has_gone("owner")
    await family.has_owners("part")
    await family.has_owners("shared", "other")
    await family.has_owners("secret", kind=SECRETS)
    await family.looked_at()
    assert await family.get("part")


# Namespaces


async def test_an_owner_without_namespace_owns_everywhere(family: Family) -> None:
    name = family.namespace
    owner = await family.create(name, kind=CLUSTER_ROLES, rules=[])
    await family.create("part", owner)
    await family.create(f"{name}-part", owner, kind=CLUSTER_ROLES, rules=[])
    await family.looked_at()
    assert await family.get("part")
    await family.delete(name, kind=CLUSTER_ROLES)
    await family.has_gone("part")
    await family.has_gone(f"{name}-part", kind=CLUSTER_ROLES)


async def test_what_has_no_namespace_cannot_belong_to_what_has_one(family: Family) -> None:
    name = family.namespace
    owner = await family.create("owner")
    part = await family.create(name, owner, kind=CLUSTER_ROLES, rules=[])
    try:
        [event] = await warnings(family, part, "default")
        assert event["message"] == _words(reference(owner), "")
        await family.delete("owner")
        await family.looked_at(CLUSTER_ROLES)
        assert await family.get(name, kind=CLUSTER_ROLES)
    finally:
        await family.delete(name, kind=CLUSTER_ROLES)


async def test_an_owner_in_another_namespace_is_none(family: Family) -> None:
    away = await family.client.create(NAMESPACES, {"metadata": {"generateName": "away-"}})
    try:
        elsewhere = Family(family.client, away["metadata"]["name"])
        owner = await elsewhere.create("owner")
        part = await family.create("part", owner)
        await family.has_gone("part")
        [event] = await warnings(family, part, family.namespace)
        assert await elsewhere.get("owner")
    finally:
        await family.client.delete(NAMESPACES, away["metadata"]["name"])
    assert event["message"] == _words(reference(owner), family.namespace)
    about = event["involvedObject"]
    assert (about["kind"], about["name"], about["apiVersion"]) == ("ConfigMap", "part", "v1")
    assert event["type"] == "Warning"
    assert event["source"] == {"component": "garbage-collector-controller"}
    assert event["reportingComponent"] == "garbage-collector-controller"
    assert event["count"] == 1


def _words(named: Object, namespace: str) -> str:
    owner = f"{named['apiVersion']}/{named['kind']}, namespace: {namespace}, name: {named['name']}"
    return f'ownerRef [{owner}, uid: {named["uid"]}] does not exist in namespace "{namespace}"'


async def warnings(family: Family, about: Object, namespace: str) -> list[Object]:
    found: list[Object] = []
    selector = f"involvedObject.uid={about['metadata']['uid']},reason=OwnerRefInvalidNamespace"

    async def are_told() -> bool:
        found[:] = (await family.client.list(EVENTS, namespace, field_selector=selector)).items
        return bool(found)

    await waiting.until(are_told, limit_s=120, what="an event about an owner elsewhere")
    return found


# A server that dies


async def test_what_was_begun_is_ended_though_the_server_was_killed(mortal: Mortal) -> None:
    async with Client(config_of(mortal.kubeconfig)) as client:
        family = Family(client, "default")
        owner, left = await family.create("owner"), await family.create("left")
        names = [f"part-{number}" for number in range(100)]
        async with asyncio.TaskGroup() as tasks:
            for name in names:
                tasks.create_task(family.create(name, owner))
            tasks.create_task(family.create("orphan", left))
        # Whose dependants the collector has not seen yet is orphaned without them.
        await family.looked_at()
        await family.delete("owner", "Foreground")
        await family.delete("left", "Orphan")
        await mortal.kill_apiserver()
        await mortal.start_apiserver()
        await family.has_gone("owner", "left", *names)
        await family.has_owners("orphan")


# Custom kinds


async def test_custom_kinds_own_and_belong(family: Family, lamps: Resource[dict[str, Any]]) -> None:
    spec = a_lamp("x")["spec"]
    lamp = await family.create("lamp", kind=lamps, spec=spec)
    await family.create("of-lamp", lamp)
    owner = await family.create("owner")
    await family.create("of-map", owner, kind=lamps, spec=spec)
    shared = await family.create("shared", owner, lamp, kind=lamps, spec=spec)
    await family.create("held", shared, kind=lamps, spec=spec, finalizers=[HOLD])
    await family.delete("owner")
    await family.has_gone("of-map", kind=lamps, limit_s=DISCOVERY_LIMIT_S)
    await family.has_owners("shared", "lamp", kind=lamps)
    await family.delete("lamp", "Foreground", kind=lamps)
    await family.is_marked("held", kind=lamps)
    await family.has_gone("of-lamp")
    assert await family.get("shared", kind=lamps)
    await family.patch("held", {"finalizers": None}, kind=lamps)
    await family.has_gone("lamp", "shared", "held", kind=lamps)
