"""Nodes that are cordoned, sick or silent, and what becomes of the pods on them."""

from typing import Any

import pytest
from tests.contract.controllers.machines import Machines, ready, taints

from kubevirt.api.scheme import NODES, PODS
from kubevirt.kube.patches import MergePatch, StrategicMergePatch

Object = dict[str, Any]
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
GONE_LIMIT_S = 300.0
"""Kubernetes looks after pods of nodes that are gone every 20 s, and gives the node 40 s to come back."""


def condition(thing: Object, type_: str) -> Object:
    found = thing.get("status", {}).get("conditions") or []
    return next((each for each in found if each["type"] == type_), {})


async def set_taints(machines: Machines, node: str, *keys: str) -> None:
    wanted = [{"key": key, "effect": "NoExecute"} for key in keys]
    await machines.client.patch(NODES, node, MergePatch({"spec": {"taints": wanted}}))


async def running(machines: Machines, name: str, **spec: Any) -> str:
    """A pod that its node has made ready."""
    await machines.pod(name, **spec)
    node = await machines.placed(name)
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    patch = StrategicMergePatch({"status": status})
    await machines.client.patch_status(PODS, name, patch, machines.namespace)
    return node


async def test_a_cordoned_node_is_tainted_until_it_is_not(machines: Machines) -> None:
    one = await machines.node("one")

    await machines.client.patch(NODES, one, MergePatch({"spec": {"unschedulable": True}}))
    await machines.node_until(one, lambda node: (UNSCHEDULABLE, "NoSchedule") in taints(node))

    await machines.client.patch(NODES, one, MergePatch({"spec": {"unschedulable": None}}))
    await machines.node_until(one, lambda node: taints(node) == set())


async def test_a_sick_node_drives_pods_off_while_another_is_well(machines: Machines) -> None:
    sick = await machines.node("sick")
    await machines.node("well")

    await machines.status(sick, {"conditions": [ready("False")]})
    both = {(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")}
    await machines.node_until(sick, lambda node: taints(node) == both)

    await machines.status(sick, {"conditions": [ready()]})
    await machines.node_until(sick, lambda node: taints(node) == set())


async def test_where_no_node_is_well_nobody_is_driven_off(machines: Machines) -> None:
    only = await machines.node("only")

    await machines.status(only, {"conditions": [ready("False")]})

    await machines.node_until(only, lambda node: taints(node) == {(NOT_READY, "NoSchedule")})


async def test_pressure_keeps_new_pods_away(machines: Machines) -> None:
    one = await machines.node("one")
    pressure = {**ready("True"), "type": "DiskPressure"}

    await machines.status(one, {"conditions": [pressure]})

    expected = {("node.kubernetes.io/disk-pressure", "NoSchedule")}
    await machines.node_until(one, lambda node: taints(node) == expected)


async def test_nobody_knows_how_a_silent_node_is(machines: Machines) -> None:
    silent = await machines.node("silent")
    await machines.node("well")
    await running(machines, "there", nodeSelector={"kubernetes.io/hostname": silent})

    machines.fall_silent(silent)

    lost = await machines.node_until(
        silent, lambda node: condition(node, "Ready")["status"] == "Unknown"
    )
    found = condition(lost, "Ready")
    assert found["reason"] == "NodeStatusUnknown"
    assert found["message"] == "Kubelet stopped posting node status."
    assert condition(lost, "MemoryPressure")["reason"] == "NodeStatusNeverUpdated"
    both = {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}
    await machines.node_until(silent, lambda node: taints(node) == both)
    await machines.pod_until("there", lambda pod: condition(pod, "Ready")["status"] == "False")
    assert await machines.events("there", "NodeNotReady") == ["Node is not ready"]
    # It has another five minutes, by the tolerations that every pod has.
    pod = await machines.client.get(PODS, "there", machines.namespace)
    assert pod.metadata.deletion_timestamp is None


async def test_a_pod_leaves_a_node_that_it_does_not_tolerate(machines: Machines) -> None:
    one = await machines.node("one")
    await running(machines, "leaves", terminationGracePeriodSeconds=30)
    await running(machines, "stays", tolerations=[{"key": "gone", "operator": "Exists"}])

    await set_taints(machines, one, "gone")

    pod = await machines.pod_until("leaves", lambda pod: "deletionTimestamp" in pod["metadata"])
    target = condition(pod, "DisruptionTarget")
    assert (target["status"], target["reason"]) == ("True", "DeletionByTaintManager")
    assert target["message"] == "Taint manager: deleting due to NoExecute taint"
    assert await machines.events("leaves", "TaintManagerEviction") == [
        f"Marking for deletion Pod {machines.namespace}/leaves"
    ]
    stays = await machines.client.get(PODS, "stays", machines.namespace)
    assert stays.metadata.deletion_timestamp is None


async def test_a_pod_stays_for_as_long_as_it_tolerates(machines: Machines) -> None:
    one = await machines.node("one")
    for name, seconds in (("short", 1), ("long", 600)):
        toleration = {"key": "gone", "operator": "Exists", "effect": "NoExecute"}
        await running(machines, name, tolerations=[toleration | {"tolerationSeconds": seconds}])

    await set_taints(machines, one, "gone")
    await machines.pod_gone("short")
    await set_taints(machines, one)

    assert await machines.events("long", "TaintManagerEviction") == [
        f"Cancelling deletion of Pod {machines.namespace}/long"
    ]


@pytest.mark.timeout(400)
async def test_a_pod_of_a_node_that_is_gone_goes_too(machines: Machines) -> None:
    gone = await machines.node("gone")
    await machines.node("other")
    here = {"kubernetes.io/hostname": gone}
    await running(machines, "orphan", nodeSelector=here, terminationGracePeriodSeconds=600)
    machines.fall_silent(gone)

    await machines.forget(NODES, gone)

    await machines.pod_gone("orphan", limit_s=GONE_LIMIT_S)
