"""Namespaces under virtual time: what they are given, how they are emptied, what they say meanwhile."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.collecting import HOLD, HOME, World

from kubevirt.apiserver.collector.collector import CollectorSettings
from kubevirt.apiserver.refusals import Refusal
from kubevirt.base.clock import Clock

pytestmark = pytest.mark.virtual_time

Object = dict[str, Any]
ROOT_CA = "-----BEGIN CERTIFICATE-----\n"


@pytest.fixture
async def world(clock: Clock) -> AsyncIterator[World]:
    async with World(clock, CollectorSettings(root_ca=ROOT_CA)) as world:
        yield world


async def leave(world: World) -> None:
    await world.delete(HOME, plural="namespaces", namespace="")


async def conditions(world: World) -> dict[str, tuple[str, str]]:
    namespace = await world.get("namespaces", HOME, "")
    assert namespace is not None
    found = namespace["status"].get("conditions") or []
    return {
        each["type"]: (each["reason"], each["message"])
        for each in found
        if each["status"] == "True"
    }


async def test_an_empty_namespace_goes(world: World) -> None:
    await leave(world)
    await world.settle()
    assert await world.get("namespaces", HOME, "") is None
    assert await world.names("serviceaccounts") == set()


async def test_all_kinds_go_and_nothing_of_others(world: World) -> None:
    await world.make("namespaces", {"metadata": {"name": "away"}}, "")
    for plural in ("configmaps", "secrets", "leases", "roles"):
        await world.create("thing", plural=plural)
        await world.create("thing", plural=plural, namespace="away")
    await world.create("thing", plural="clusterroles", namespace="")
    await leave(world)
    await world.settle()
    for plural in ("configmaps", "secrets", "leases", "roles"):
        assert await world.names(plural) == set()
        assert await world.names(plural, "away") == {"thing"}
    assert await world.names("clusterroles", "") == {"thing"}
    assert await world.get("namespaces", HOME, "") is None


async def test_what_remains_is_told(world: World) -> None:
    await world.create("one", finalizers=[HOLD, "example.org/other"])
    await world.create("two", finalizers=[HOLD])
    await leave(world)
    await world.settle()
    assert await conditions(world) == {
        "NamespaceContentRemaining": (
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 2 resource instances",
        ),
        "NamespaceFinalizersRemaining": (
            "SomeFinalizersRemain",
            (
                "Some content in the namespace has finalizers remaining: "
                f"{HOLD} in 2 resource instances, example.org/other in 1 resource instances"
            ),
        ),
    }
    await world.patch("one", {"finalizers": None})
    await world.settle()
    found = await conditions(world)
    assert found["NamespaceContentRemaining"][1].endswith("has 1 resource instances")
    await world.patch("two", {"finalizers": None})
    await world.settle()
    assert await world.get("namespaces", HOME, "") is None


async def test_an_idle_namespace_that_waits_writes_nothing(world: World) -> None:
    await world.create("held", finalizers=[HOLD])
    await leave(world)
    await world.settle()
    before = world.registry.store.revision
    await world.clock.sleep(24 * 3600)
    assert world.registry.store.revision == before


async def test_pods_go_first(world: World) -> None:
    pod = {
        "metadata": {"name": "pod"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "node01"},
    }
    await world.make("pods", pod)
    await world.create("needed")
    await leave(world)
    await world.clock.sleep(5)
    assert await world.names() == {"needed"}
    assert await conditions(world) == {}
    await world.clock.sleep(60)
    assert await conditions(world) == {
        "NamespaceDeletionContentFailure": (
            "ContentDeletionFailed",
            (
                "Failed to delete all resource types, 1 remaining: unexpected items still remain in "
                f"namespace: {HOME} for gvr: /v1, Resource=pods"
            ),
        )
    }
    entry = await world.registry.store.get(f"/registry/core/pods/{HOME}/pod")
    assert entry is not None
    await world.registry.store.delete(entry)
    await world.settle()
    assert await world.get("namespaces", HOME, "") is None


async def test_an_api_that_is_away_holds_the_namespace_up(world: World) -> None:
    service = {
        "metadata": {"name": "v1.away.example"},
        "spec": {
            "group": "away.example",
            "version": "v1",
            "service": {"name": "s", "namespace": "default"},
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
        },
    }
    await world.make("apiservices", service, "")
    await leave(world)
    await world.settle()
    assert await conditions(world) == {
        "NamespaceDeletionDiscoveryFailure": (
            "DiscoveryFailed",
            (
                "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of "
                "server APIs: away.example/v1: stale GroupVersion discovery: away.example/v1"
            ),
        )
    }
    await world.delete("v1.away.example", plural="apiservices", namespace="")
    await world.clock.sleep(1)  # at once, though it is tried only every minute by now
    assert await world.get("namespaces", HOME, "") is None


async def test_what_was_begun_before_a_crash_is_ended_after_it(clock: Clock) -> None:
    world = World(clock)
    await world.start(collects=False)
    await world.create("thing")
    await leave(world)
    await world.crash()
    await world.start(collects=False)
    assert await world.names() == {"thing"}
    await world.collect()
    await world.settle()
    assert await world.get("namespaces", HOME, "") is None
    await world.crash()


async def test_every_namespace_has_an_account_and_a_certificate(world: World) -> None:
    assert await world.names("serviceaccounts") == {"default"}
    await world.make("namespaces", {"metadata": {"name": "later"}}, "")
    await world.settle()
    assert await world.names("serviceaccounts", "later") == {"default"}
    published = await world.get("configmaps", "kube-root-ca.crt", "later")
    assert published is not None
    assert published["data"] == {"ca.crt": ROOT_CA}


async def test_what_every_namespace_has_is_put_back(world: World) -> None:
    await world.delete("default", plural="serviceaccounts")
    await world.settle()
    assert await world.names("serviceaccounts") == {"default"}
    await world.delete("kube-root-ca.crt")
    await world.settle()
    published = await world.get("configmaps", "kube-root-ca.crt")
    assert published is not None
    call = world.call("update", "configmaps", "kube-root-ca.crt")
    entry = await world.registry.store.get(call.key)
    assert entry is not None
    await world.registry.store.update(entry, entry.value.replace(b"BEGIN", b"FALSE"))
    await world.settle()
    again = await world.get("configmaps", "kube-root-ca.crt")
    assert again is not None
    assert again["data"] == published["data"]
    assert again["metadata"]["uid"] == published["metadata"]["uid"]


async def test_a_server_that_is_at_rest_writes_nothing(world: World) -> None:
    await world.settle()
    before = world.registry.store.revision
    await world.clock.sleep(7 * 24 * 3600)
    assert world.registry.store.revision == before


async def test_nothing_is_put_into_a_namespace_that_goes(world: World) -> None:
    await world.create("held", finalizers=[HOLD])
    await leave(world)
    await world.settle()
    assert await world.names("serviceaccounts") == set()
    with pytest.raises(Refusal, match="being terminated"):
        await world.create("late")
