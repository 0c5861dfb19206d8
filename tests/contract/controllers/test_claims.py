"""Pods with claims: volumes tie them to nodes, and nodes decide where volumes are made."""

from typing import Any

from tests.contract.controllers.machines import Machines

from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from kubevirt.kube.patches import MergePatch

Object = dict[str, Any]
SELECTED = "volume.kubernetes.io/selected-node"


def selected(claim: Object | None) -> str:
    assert claim is not None
    annotations = claim["metadata"].get("annotations") or {}
    return str(annotations.get(SELECTED, ""))


async def test_a_pod_waits_for_a_claim_that_is_to_be_bound_first(machines: Machines) -> None:
    await machines.node("one")
    await machines.storage_class("at-once", "Immediate")
    await machines.claim("data", "at-once")
    await machines.pod("user", **machines.uses("data"))

    assert await machines.refused("user") == (
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
    )


async def test_a_claim_that_waits_for_a_pod_hears_its_node(machines: Machines) -> None:
    await machines.node("one", labels={"disk": "fast"})
    await machines.node("two")
    await machines.storage_class("later", "WaitForFirstConsumer")
    await machines.claim("data", "later")
    await machines.pod("user", nodeSelector={"disk": "fast"}, **machines.uses("data"))

    claims = PERSISTENT_VOLUME_CLAIMS.raw
    found = await machines.until(claims, "data", lambda claim: bool(selected(claim)))
    assert selected(found) == "one"

    # A provisioner makes a volume for the claim; then the claim is bound, and the pod gets its node.
    assert found is not None
    meant = {"name": "data", "namespace": machines.namespace, "uid": found["metadata"]["uid"]}
    volume = await machines.volume("made", "later", "one", claimRef=meant)
    await bound(machines, "data", volume)
    assert await machines.placed("user") == "one"


async def bound(machines: Machines, claim: str, volume: str) -> None:
    """As the volume controller does it; where that runs, it is done already, or done twice."""
    change: Object = {
        "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": volume},
    }
    claims = PERSISTENT_VOLUME_CLAIMS
    await machines.client.patch(claims, claim, MergePatch(change), machines.namespace)


async def test_a_claim_takes_a_volume_that_is_there_already(machines: Machines) -> None:
    await machines.node("one")
    await machines.node("two")
    nobody = "kubernetes.io/no-provisioner"
    await machines.storage_class("local", "WaitForFirstConsumer", nobody)
    volume = await machines.volume("on-two", "local", "two")
    await available(machines, volume)
    await machines.claim("data", "local")
    await machines.pod("user", **machines.uses("data"))

    meant = await claim_of(machines, volume)
    assert meant["name"] == "data"
    await bound(machines, "data", volume)
    assert await machines.placed("user") == "two"


async def claim_of(machines: Machines, volume: str) -> Object:
    def is_taken(found: Object | None) -> bool:
        return found is not None and "claimRef" in found["spec"]

    found = await machines.until(PERSISTENT_VOLUMES.raw, volume, is_taken)
    assert found is not None
    reference: Object = found["spec"]["claimRef"]
    return reference


async def available(machines: Machines, volume: str) -> None:
    change = MergePatch({"status": {"phase": "Available"}})
    await machines.client.patch_status(PERSISTENT_VOLUMES, volume, change)


async def test_nobody_makes_a_volume_and_none_is_there(machines: Machines) -> None:
    await machines.node("one")
    nobody = "kubernetes.io/no-provisioner"
    await machines.storage_class("local", "WaitForFirstConsumer", nobody)
    await machines.claim("data", "local")
    await machines.pod("user", **machines.uses("data"))

    assert await machines.refused("user") == (
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
    )


async def test_a_bound_volume_ties_its_pod_to_its_node(machines: Machines) -> None:
    await machines.node("one")
    await machines.node("two", spec={"unschedulable": True})
    await machines.storage_class("local", "Immediate", "kubernetes.io/no-provisioner")
    volume = await machines.volume("on-two", "local", "two")
    await available(machines, volume)
    await machines.claim("data", "local", volumeName=volume)
    await bound(machines, "data", volume)
    await machines.pod("user", **machines.uses("data"))

    assert await machines.refused("user") == (
        "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, "
        "1 node(s) were unschedulable."
    )
