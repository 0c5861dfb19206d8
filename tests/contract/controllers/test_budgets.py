"""Budgets of disruption: what they count, and what that allows."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.controllers.machines import Machines

from kubevirt.api.resource import Resource
from kubevirt.api.scheme import CONFIG_MAPS, POD_DISRUPTION_BUDGETS, PODS
from kubevirt.base.tasks import background
from kubevirt.kube.errors import TooManyRequests
from kubevirt.kube.patches import MergePatch, StrategicMergePatch

Object = dict[str, Any]
APP = {"app": "db"}


async def budget(machines: Machines, **spec: Any) -> None:
    body = {"metadata": {"name": "budget"}, "spec": {"selector": {"matchLabels": APP}, **spec}}
    await machines.client.create(POD_DISRUPTION_BUDGETS.raw, body, machines.namespace)


async def counted(machines: Machines, holds: Callable[[Object], bool]) -> Object:
    """The status of the budget, once that is so of it."""

    def is_so(found: Object | None) -> bool:
        return found is not None and holds(found.get("status") or {})

    found = await machines.until(POD_DISRUPTION_BUDGETS.raw, "budget", is_so)
    assert found is not None
    status: Object = found["status"]
    return status


def figures(status: Object) -> tuple[int, int, int, int]:
    """Expected, healthy, needed, and how many may go."""
    names = ("expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed")
    healthy: list[int] = [status.get(name, -1) for name in names]
    return healthy[0], healthy[1], healthy[2], healthy[3]


def allowed(status: Object) -> Object:
    conditions = status.get("conditions") or []
    return next((each for each in conditions if each["type"] == "DisruptionAllowed"), {})


async def a_pod(machines: Machines, name: str, *, is_ready: bool = True, **metadata: Any) -> None:
    await machines.pod(name, labels=APP, metadata=metadata)
    await say_ready(machines, name, is_ready=is_ready)


async def say_ready(machines: Machines, name: str, *, is_ready: bool) -> None:
    conditions = [{"type": "Ready", "status": str(is_ready)}]
    patch = StrategicMergePatch({"status": {"phase": "Running", "conditions": conditions}})
    await machines.client.patch_status(PODS, name, patch, machines.namespace)


async def test_ready_pods_above_the_least_number_may_go(machines: Machines) -> None:
    await budget(machines, minAvailable=1)
    await a_pod(machines, "a")
    await a_pod(machines, "b")
    await a_pod(machines, "sick", is_ready=False)

    status = await counted(machines, lambda found: figures(found) == (3, 2, 1, 1))

    assert (allowed(status)["status"], allowed(status)["reason"]) == ("True", "SufficientPods")


async def test_what_was_evicted_is_counted_and_the_last_one_stays(machines: Machines) -> None:
    await budget(machines, minAvailable=1)
    await a_pod(machines, "a")
    await a_pod(machines, "b")
    await counted(machines, lambda found: figures(found) == (2, 2, 1, 1))

    await machines.client.evict("a", machines.namespace)
    status = await counted(machines, lambda found: figures(found) == (1, 1, 1, 0))
    assert (allowed(status)["status"], allowed(status)["reason"]) == ("False", "InsufficientPods")
    assert not status.get("disruptedPods")
    with pytest.raises(TooManyRequests) as refused:
        await machines.client.evict("b", machines.namespace)

    assert refused.value.causes[0].message == (
        "The disruption budget budget needs 1 healthy pods and has 1 currently"
    )


async def test_a_pod_that_turns_ready_counts(machines: Machines) -> None:
    await budget(machines, minAvailable=1)
    await a_pod(machines, "a")
    await a_pod(machines, "b", is_ready=False)
    await counted(machines, lambda found: figures(found) == (2, 1, 1, 0))

    await say_ready(machines, "b", is_ready=True)

    await counted(machines, lambda found: figures(found) == (2, 2, 1, 1))


async def test_shares_are_of_what_those_who_made_the_pods_want(
    machines: Machines, lamps: Resource[Object]
) -> None:
    owner = await a_lamp(machines, lamps, watts=1, bulbs=4)
    for name in ("a", "b", "c", "d"):
        await a_pod(machines, name, ownerReferences=[owner])

    await budget(machines, maxUnavailable="50%")

    async with background(stir(machines, "a")):
        await counted(machines, lambda found: figures(found) == (4, 4, 2, 2))


async def stir(machines: Machines, pod: str) -> None:
    """Kubernetes' controller learns of new kinds every 30 s, and counts again when a pod changes."""
    for number in itertools.count():
        await asyncio.sleep(1)
        label = MergePatch({"metadata": {"labels": {"stirred": str(number)}}})
        await machines.client.patch(PODS, pod, label, machines.namespace)


async def a_lamp(machines: Machines, lamps: Resource[Object], **spec: Any) -> Object:
    lamp = {"metadata": {"name": "lamp"}, "spec": spec}
    made = await machines.client.create(lamps, lamp, machines.namespace)
    return {
        "apiVersion": lamps.api_version,
        "kind": lamps.kind,
        "name": "lamp",
        "uid": made["metadata"]["uid"],
        "controller": True,
    }


async def test_pods_that_nobody_made_have_no_share(machines: Machines) -> None:
    await a_pod(machines, "a")

    await budget(machines, maxUnavailable=1)

    await counted(machines, lambda found: figures(found) == (0, 1, 0, 0))
    [words] = await machines.events("budget", "UnmanagedPods")
    assert 'please set ".spec.minAvailable" field of the PDB to an integer value.' in words


async def test_a_maker_that_cannot_say_how_many_it_wants_fails_the_count(
    machines: Machines,
) -> None:
    body = {"metadata": {"name": "maker"}}
    made = await machines.client.create(CONFIG_MAPS, body, machines.namespace)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "maker", "controller": True}
    await a_pod(machines, "a", ownerReferences=[{**owner, "uid": made.metadata.uid}])

    await budget(machines, maxUnavailable=1)

    status = await counted(machines, lambda found: bool(allowed(found)))
    words = "configmaps does not implement the scale subresource"
    assert status["disruptionsAllowed"] == 0
    assert (allowed(status)["status"], allowed(status)["reason"]) == ("False", "SyncFailed")
    assert allowed(status)["message"] == words
    assert await machines.events("budget", "CalculateExpectedPodCountFailed") == [
        f"Failed to calculate the number of expected pods: {words}"
    ]


async def test_a_budget_without_pods_says_so(machines: Machines) -> None:
    await budget(machines, minAvailable=1)

    status = await counted(machines, lambda found: "observedGeneration" in found)

    assert figures(status) == (0, 0, 1, 0)
    assert await machines.events("budget", "NoPods") == ["No matching pods found"]
