"""Pods with claims: volumes tie them to nodes, and nodes decide where volumes are made."""

import asyncio
from typing import Any

from tests.contract.controllers.machines import Machines

from kubevirt.api.scheme import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from kubevirt.kube.patches import MergePatch

Object = dict[str, Any]
NOBODY = "kubernetes.io/no-provisioner"
SELECTED = "volume.kubernetes.io/selected-node"


def selected(claim: Object | None) -> str:
    assert claim is not None
    annotations = claim["metadata"].get("annotations") or {}
    return str(annotations.get(SELECTED, ""))


def is_bound(claim: Object | None) -> bool:
    return claim is not None and claim.get("status", {}).get("phase") == "Bound"


async def test_a_pod_waits_for_a_claim_that_is_to_be_bound_first(machines: Machines) -> None:
    await machines.node("one")
    await machines.claim("data", await machines.storage_class("at-once", "Immediate"))
    await machines.pod("user", **machines.uses("data"))

    assert await machines.refused("user") == (
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
    )


async def test_a_claim_that_waits_for_a_pod_hears_its_node(machines: Machines) -> None:
    one = await machines.node("one", labels={"disk": "fast"})
    await machines.node("two")
    later = await machines.storage_class("later", "WaitForFirstConsumer")
    await machines.claim("data", later)
    await machines.pod("user", nodeSelector={"disk": "fast"}, **machines.uses("data"))

    claims = PERSISTENT_VOLUME_CLAIMS.raw
    found = await machines.until(claims, "data", lambda claim: bool(selected(claim)))
    assert selected(found) == one

    # A provisioner makes a volume for it; then the claim is bound, and the pod gets its node.
    assert found is not None
    meant = {"name": "data", "namespace": machines.namespace, "uid": found["metadata"]["uid"]}
    await machines.volume("made", later, one, claimRef=meant)
    assert await machines.placed("user") == one


async def test_where_no_volume_can_be_made_another_node_is_tried(machines: Machines) -> None:
    one = await machines.node("one", labels={"disk": "fast"})
    claim = await machines.claim(
        "data", await machines.storage_class("later", "WaitForFirstConsumer")
    )
    await machines.pod("user", nodeSelector={"disk": "fast"}, **machines.uses("data"))
    claims = PERSISTENT_VOLUME_CLAIMS
    await machines.until(claims.raw, claim, lambda found: selected(found) == one)

    two = await machines.node("two", labels={"disk": "fast"})
    await machines.client.patch(NODES, one, MergePatch({"spec": {"unschedulable": True}}))
    # The provisioner says no to a node by taking the selection back, and says it again to a scheduler that
    # has not heard yet that the node is closed.
    refusal = MergePatch({"metadata": {"annotations": {SELECTED: None}}})
    chosen = one
    while chosen == one:
        await machines.client.patch(claims, claim, refusal, machines.namespace)
        found = await machines.until(claims.raw, claim, lambda found: bool(selected(found)))
        chosen = selected(found)
    assert chosen == two


async def test_one_volume_is_taken_by_one_of_two(machines: Machines) -> None:
    one = await machines.node("one")
    local = await machines.storage_class("local", "WaitForFirstConsumer", NOBODY)
    await machines.volume("only", local, one)
    for name in ("a", "b"):
        await machines.claim(name, local)
        await machines.pod(name, **machines.uses(name))

    async with asyncio.TaskGroup() as group:
        placings = {name: group.create_task(machines.placed(name)) for name in ("a", "b")}
        done, _ = await asyncio.wait(placings.values(), return_when=asyncio.FIRST_COMPLETED)
        (other,) = (name for name, placing in placings.items() if placing not in done)
        await machines.refused(other)
        assert not placings[other].done()
        placings[other].cancel()


async def test_a_claim_takes_a_volume_that_is_there_already(machines: Machines) -> None:
    await machines.node("one")
    two = await machines.node("two")
    local = await machines.storage_class("local", "WaitForFirstConsumer", NOBODY)
    volume = await machines.volume("on-two", local, two)
    await machines.claim("data", local)
    await machines.pod("user", **machines.uses("data"))

    meant = await claim_of(machines, volume)
    assert meant["name"] == "data"
    assert await machines.placed("user") == two


async def test_a_volume_may_say_its_class_as_it_was_said_before_there_was_a_field(
    machines: Machines,
) -> None:
    one = await machines.node("one")
    local = await machines.storage_class("local", "WaitForFirstConsumer", NOBODY)
    of_old = {"annotations": {"volume.beta.kubernetes.io/storage-class": local}}
    await machines.volume("of-old", "", one, metadata=of_old)
    await machines.claim("data", local)
    await machines.pod("user", **machines.uses("data"))

    assert await machines.placed("user") == one


async def test_a_volume_made_for_a_claim_needs_neither_its_class_nor_its_labels(
    machines: Machines,
) -> None:
    one = await machines.node("one")
    local = await machines.storage_class("local", "WaitForFirstConsumer", NOBODY)
    other = await machines.storage_class("other", "Immediate", NOBODY)
    meant = {"name": "data", "namespace": machines.namespace}
    volume = await machines.volume("own", other, one, claimRef=meant)
    await machines.claim("data", local, selector={"matchLabels": {"disk": "fast"}})

    assert await volume_of(machines, "data") == volume


async def test_a_claim_that_names_its_volume_has_picked_it_whatever_its_labels(
    machines: Machines,
) -> None:
    one = await machines.node("one")
    local = await machines.storage_class("local", "Immediate", NOBODY)
    volume = await machines.volume("named", local, one)
    picked = {"volumeName": volume, "selector": {"matchLabels": {"disk": "fast"}}}
    await machines.claim("data", local, **picked)

    assert await volume_of(machines, "data") == volume


async def test_a_volume_for_many_is_left_to_those_who_need_it(machines: Machines) -> None:
    one = await machines.node("one")
    local = await machines.storage_class("local", "Immediate", NOBODY)
    both = ["ReadWriteOnce", "ReadWriteMany"]
    many = await machines.volume("many", local, one, accessModes=both)
    alone = await machines.volume("alone", local, one, capacity={"storage": "9Gi"})
    for volume in (many, alone):
        await machines.until(PERSISTENT_VOLUMES.raw, volume, is_available)
    await machines.claim("data", local)

    assert await volume_of(machines, "data") == alone


def is_available(volume: Object | None) -> bool:
    return volume is not None and volume.get("status", {}).get("phase") == "Available"


async def volume_of(machines: Machines, claim: str) -> object:
    found = await machines.until(PERSISTENT_VOLUME_CLAIMS.raw, claim, is_bound)
    assert found is not None
    return found["spec"]["volumeName"]


async def claim_of(machines: Machines, volume: str) -> Object:
    def is_taken(found: Object | None) -> bool:
        return found is not None and "claimRef" in found["spec"]

    found = await machines.until(PERSISTENT_VOLUMES.raw, volume, is_taken)
    assert found is not None
    reference: Object = found["spec"]["claimRef"]
    return reference


async def test_nobody_makes_a_volume_and_none_is_there(machines: Machines) -> None:
    await machines.node("one")
    local = await machines.storage_class("local", "WaitForFirstConsumer", NOBODY)
    await machines.claim("data", local)
    await machines.pod("user", **machines.uses("data"))

    assert await machines.refused("user") == (
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
    )


async def test_a_bound_volume_ties_its_pod_to_its_node(machines: Machines) -> None:
    await machines.node("one")
    two = await machines.node("two", spec={"unschedulable": True})
    local = await machines.storage_class("local", "Immediate", NOBODY)
    volume = await machines.volume("on-two", local, two)
    await machines.claim("data", local, volumeName=volume)
    await machines.until(PERSISTENT_VOLUME_CLAIMS.raw, "data", is_bound)
    await machines.pod("user", **machines.uses("data"))

    assert await machines.refused("user") == (
        "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, "
        "1 node(s) were unschedulable."
    )
