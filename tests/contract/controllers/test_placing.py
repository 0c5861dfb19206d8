"""Which node a pod gets, and what it is told when it gets none."""

import asyncio
from typing import Any

import pytest
from tests.contract.controllers.machines import Machines, scheduled

from kubevirt.api.scheme import NODES, PODS
from kubevirt.kube.patches import JsonPatch, MergePatch

HOST = "kubernetes.io/hostname"


async def test_a_pod_gets_the_node_and_an_event_says_so(machines: Machines) -> None:
    one = await machines.node("one")
    await machines.pod("plain")

    assert await machines.placed("plain") == one
    pod = await machines.client.get(PODS.raw, "plain", machines.namespace)
    assert scheduled(pod)["status"] == "True"
    assert await machines.events("plain", "Scheduled") == [
        f"Successfully assigned {machines.namespace}/plain to {one}"
    ]


async def test_without_nodes_a_pod_is_told_so_and_gets_the_first_that_comes(
    machines: Machines,
) -> None:
    await machines.pod("early")
    assert await machines.refused("early") == "no nodes available to schedule pods"
    assert "no nodes available to schedule pods" in await machines.events(
        "early", "FailedScheduling"
    )

    one = await machines.node("one")
    assert await machines.placed("early") == one


def spread(key: str = HOST, **more: Any) -> list[dict[str, Any]]:
    """Pods of the database are to be on all parts alike."""
    selector = {"matchLabels": {"app": "db"}}
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return [{**constraint, "labelSelector": selector, **more}]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "too much": (
        {"requests": {"cpu": "3", "memory": "5Gi"}},
        "2 Insufficient cpu, 2 Insufficient memory",
    ),
    "a device that nobody has": (
        {
            "container": {
                "resources": {
                    "requests": {"devices.kubevirt.io/kvm": "1"},
                    "limits": {"devices.kubevirt.io/kvm": "1"},
                }
            }
        },
        "2 Insufficient devices.kubevirt.io/kvm",
    ),
    "another label": (
        {"nodeSelector": {"disk": "fast"}},
        "2 node(s) didn't match Pod's node affinity/selector",
    ),
    "a claim that is not there": (
        {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "nobody"}}]},
        'persistentvolumeclaim "nobody" not found',
    ),
    "nobody to be near": (
        {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "x"}}}
                    ]
                }
            }
        },
        "2 node(s) didn't match pod affinity rules",
    ),
    "parts that nobody belongs to": (
        {"topologySpreadConstraints": spread("example.com/rack")},
        "2 node(s) didn't match pod topology spread constraints (missing required label)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_pod_that_fits_nowhere_is_told_why(machines: Machines, name: str) -> None:
    spec, words = REFUSED[name]
    one = await machines.node("one")
    two = await machines.node("two")
    # Both are known once they take somebody.
    for node in (one, two):
        await machines.pod(f"on-{node}", nodeSelector={HOST: node})
        await machines.placed(f"on-{node}")

    await machines.pod("refused", **spec)

    assert await machines.refused("refused") == f"0/2 nodes are available: {words}."


async def test_each_node_has_its_own_reason(machines: Machines) -> None:
    await machines.node("cordoned", spec={"unschedulable": True})
    await machines.node(
        "tainted", spec={"taints": [{"key": "gpu", "value": "big", "effect": "NoSchedule"}]}
    )
    small = await machines.node("small", allocatable={"cpu": "100m"})
    # The last one is known once it takes somebody.
    await machines.pod("first", nodeSelector={HOST: small})
    await machines.placed("first")

    await machines.pod("refused", requests={"cpu": "1"})

    assert await machines.refused("refused") == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
        "1 node(s) were unschedulable."
    )


async def test_a_pod_that_waits_gets_the_room_of_one_that_goes(machines: Machines) -> None:
    one = await machines.node("one")
    await machines.pod("first", requests={"cpu": "1500m"})
    await machines.placed("first")
    await machines.pod("second", requests={"cpu": "1"})
    assert "1 Insufficient cpu" in await machines.refused("second")

    await machines.forget(PODS, "first", machines.namespace, now=True)

    assert await machines.placed("second") == one


async def test_a_pod_that_waits_gets_a_node_that_changes(machines: Machines) -> None:
    one = await machines.node("one")
    await machines.pod("waits", nodeSelector={"disk": "fast"})
    await machines.refused("waits")

    label = MergePatch({"metadata": {"labels": {"disk": "fast"}}})
    await machines.client.patch(NODES, one, label)

    assert await machines.placed("waits") == one


async def test_a_pod_that_waits_gets_a_device_that_comes(machines: Machines) -> None:
    one = await machines.node("one")
    asked = {"devices.kubevirt.io/kvm": "1"}
    await machines.pod("waits", container={"resources": {"requests": asked, "limits": asked}})
    await machines.refused("waits")

    await machines.status(one, {"capacity": asked, "allocatable": asked})

    assert await machines.placed("waits") == one


async def test_many_at_once_take_no_more_than_there_is(machines: Machines) -> None:
    await machines.node("one")
    names = [f"pod-{number}" for number in range(12)]
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(machines.pod(name, requests={"cpu": "400m"}))

    async def outcome(name: str) -> str:
        found = await machines.pod_until(name, lambda pod: bool(scheduled(pod).get("status")))
        return str(scheduled(found)["status"])

    outcomes = [await outcome(name) for name in names]

    assert sorted(outcomes) == ["False"] * 7 + ["True"] * 5


async def test_a_pod_of_another_scheduler_is_left_alone(machines: Machines) -> None:
    await machines.node("one")
    await machines.pod("foreign", schedulerName="somebody-else")
    await machines.pod("ours")

    await machines.placed("ours")
    foreign = await machines.client.get(PODS.raw, "foreign", machines.namespace)
    assert "nodeName" not in foreign["spec"]
    assert scheduled(foreign) == {}


async def test_a_pod_behind_a_gate_waits_until_it_is_lifted(machines: Machines) -> None:
    one = await machines.node("one")
    await machines.pod("held", schedulingGates=[{"name": "example.com/gate"}])
    await machines.pod("free")
    await machines.placed("free")
    held = await machines.client.get(PODS.raw, "held", machines.namespace)
    assert scheduled(held)["reason"] == "SchedulingGated"

    lift = JsonPatch().remove("/spec/schedulingGates")
    await machines.client.patch(PODS, "held", lift, machines.namespace)

    assert await machines.placed("held") == one


async def test_pods_that_refuse_each_other_are_kept_apart(machines: Machines) -> None:
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "db"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    one = await machines.node("one")
    two = await machines.node("two")
    await machines.pod("a", labels={"app": "db"}, affinity=apart)
    await machines.pod("b", labels={"app": "db"}, affinity=apart)

    assert {await machines.placed("a"), await machines.placed("b")} == {one, two}
    await machines.pod("c", labels={"app": "db"}, affinity=apart)
    assert await machines.refused("c") == (
        "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."
    )
    await machines.pod("d", labels={"app": "db"})
    assert await machines.refused("d") == (
        "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules."
    )


async def test_pods_that_are_to_be_spread_are_on_all_nodes_alike(machines: Machines) -> None:
    """They were put wherever there was room, and nobody was told."""
    one = await machines.node("one")
    two = await machines.node("two", allocatable={"cpu": "64", "memory": "64Gi"})
    places = []
    for name in "abcd":
        await machines.pod(
            name,
            labels={"app": "db"},
            requests={"cpu": "100m"},
            topologySpreadConstraints=spread(),
        )
        places.append(await machines.placed(name))
    assert sorted(places) == sorted([one, one, two, two])
    assert places[0] != places[1]


async def test_a_pod_that_would_be_one_too_many_waits_for_room_elsewhere(
    machines: Machines,
) -> None:
    one = await machines.node("one")
    two = await machines.node("two", spec={"unschedulable": True})
    await machines.pod("there", labels={"app": "db"})
    assert await machines.placed("there") == one

    await machines.pod("next", labels={"app": "db"}, topologySpreadConstraints=spread())
    assert await machines.refused("next") == (
        "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
        "1 node(s) were unschedulable."
    )
    await machines.client.patch(NODES, two, MergePatch({"spec": {"unschedulable": None}}))
    assert await machines.placed("next") == two


@pytest.mark.parametrize("now", [True, False], ids=["is gone", "is on its way out"])
async def test_a_pod_that_would_be_one_too_many_gets_the_place_of_one_that(
    machines: Machines, *, now: bool
) -> None:
    one = await machines.node("one")
    await machines.node("two", spec={"unschedulable": True})
    await machines.pod("there", labels={"app": "db"})
    await machines.placed("there")
    await machines.pod("next", labels={"app": "db"}, topologySpreadConstraints=spread())
    await machines.refused("next")

    await machines.client.delete(
        PODS, "there", machines.namespace, grace_period_s=0 if now else None
    )
    assert await machines.placed("next") == one


async def test_a_node_that_a_pod_does_not_want_is_no_part_to_be_filled(machines: Machines) -> None:
    one = await machines.node("one")
    await machines.node("two")
    for name in "ab":
        await machines.pod(
            name,
            labels={"app": "db"},
            nodeSelector={HOST: one},
            topologySpreadConstraints=spread(),
        )
        assert await machines.placed(name) == one
    everywhere = spread(nodeAffinityPolicy="Ignore")
    here = {HOST: one}
    await machines.pod(
        "c", labels={"app": "db"}, nodeSelector=here, topologySpreadConstraints=everywhere
    )
    assert await machines.refused("c") == (
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) didn't match pod topology spread constraints."
    )


async def test_a_port_of_the_node_is_given_once(machines: Machines) -> None:
    await machines.node("one")
    port = {"ports": [{"containerPort": 80, "hostPort": 8080}]}
    await machines.pod("first", container=port)
    await machines.placed("first")
    await machines.pod("second", container=port)

    assert await machines.refused("second") == (
        "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    )
