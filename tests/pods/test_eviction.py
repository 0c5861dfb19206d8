"""Pods that must go: evictions, budgets that speak against them, drained nodes."""

import pytest
from tests.pods.home import SPARE
from tests.pods.objects import POLITE, Object, a_budget, a_pod, condition
from tests.pods.place import Place

from kubevirt.api import scheme
from kubevirt.kube.errors import TooManyRequests

TOLERATED = [{"key": SPARE, "operator": "Exists"}]


def on_spare(name: str, node: str, **metadata: object) -> Object:
    pod = a_pod(
        name,
        POLITE,
        nodeSelector={"kubernetes.io/hostname": node},
        tolerations=TOLERATED,
    )
    pod["metadata"] |= metadata
    return pod


async def budget_that_knows(place: Place, name: str, **expected: int) -> Object:
    """A budget whose status counts the pods as they are by now."""
    return await place.until(
        name,
        lambda budget: {"observedGeneration": 1, **expected}.items() <= budget["status"].items(),
        f"counting {expected}",
        kind="PodDisruptionBudget",
    )


async def test_a_pod_without_a_budget_is_evicted(place: Place) -> None:
    await place.run(a_pod("free", POLITE))
    await place.client.evict("free", place.namespace)
    last = await place.until_gone("free")
    assert condition(last, "DisruptionTarget")["status"] == "True"
    assert condition(last, "DisruptionTarget")["reason"] == "EvictionByEvictionAPI"


async def test_a_budget_keeps_a_pod_until_another_can_take_its_place(place: Place) -> None:
    first = a_pod("first", POLITE)
    second = a_pod("second", POLITE, metadata={"name": "second", "labels": {"app": "first"}})
    await place.create(a_budget("one-stays", "first", minAvailable=1))
    await place.run(first)
    budget = await budget_that_knows(place, "one-stays", currentHealthy=1)
    assert budget["status"]["disruptionsAllowed"] == 0
    assert budget["status"]["desiredHealthy"] == 1
    with pytest.raises(TooManyRequests, match="Cannot evict pod as it would violate") as refusal:
        await place.client.evict("first", place.namespace)
    assert refusal.value.has_cause("DisruptionBudget")
    assert await place.is_there("first")
    await place.run(second)
    await budget_that_knows(place, "one-stays", disruptionsAllowed=1)
    await place.client.evict("first", place.namespace)
    await place.until_gone("first")
    with pytest.raises(TooManyRequests):
        await place.client.evict("second", place.namespace)


async def test_a_pod_that_is_not_ready_is_no_replacement(place: Place) -> None:
    await place.create(a_budget("one-stays", "first", minAvailable=1))
    await place.run(a_pod("first", POLITE))
    never = {"exec": {"command": ["false"]}, "periodSeconds": 1}
    metadata = {"name": "second", "labels": {"app": "first"}}
    await place.create(
        a_pod("second", POLITE, container={"readinessProbe": never}, metadata=metadata)
    )
    await place.until_running("second")
    await budget_that_knows(place, "one-stays", expectedPods=2, currentHealthy=1)
    with pytest.raises(TooManyRequests):
        await place.client.evict("first", place.namespace)


async def test_a_drained_node_is_empty_and_takes_nothing_until_it_is_uncordoned(
    place: Place, spare_node: str
) -> None:
    await place.run(on_spare("tenant", spare_node))
    try:
        drain = ("drain", spare_node, "--force", "--ignore-daemonsets", "--timeout=100s")
        said = await place.kubectl(*drain)
        assert f"node/{spare_node} drained" in said.stdout
        assert not await place.is_there("tenant")
        shown = (await place.kubectl("get", "node", spare_node, "--no-headers")).stdout
        assert "SchedulingDisabled" in shown
        await place.create(on_spare("next", spare_node))
        pod = await place.until(
            "next",
            lambda pod: condition(pod, "PodScheduled").get("reason") == "Unschedulable",
            "unschedulable",
        )
        assert "unschedulable" in condition(pod, "PodScheduled")["message"]
    finally:
        await place.kubectl("uncordon", spare_node)
    await place.until_ready("next")


async def test_draining_waits_for_a_budget(place: Place, spare_node: str) -> None:
    await place.create(a_budget("stays", "tenant", minAvailable=1))
    await place.run(on_spare("tenant", spare_node))
    await budget_that_knows(place, "stays", currentHealthy=1)
    refusal = "Cannot evict pod as it would violate the pod's disruption budget"
    try:
        drain = ("drain", spare_node, "--force", "--ignore-daemonsets")
        async with place.kubectl_lines(*drain, errors_too=True) as lines:
            async for line in lines:
                if refusal in line:
                    break
            else:
                pytest.fail("nothing spoke against it")
            assert await place.is_there("tenant")
            await place.client.delete(scheme.POD_DISRUPTION_BUDGETS, "stays", place.namespace)
            assert [line async for line in lines][-1] == f"node/{spare_node} drained"
        assert not await place.is_there("tenant")
    finally:
        await place.kubectl("uncordon", spare_node)


async def test_a_no_execute_taint_drives_out_whoever_does_not_tolerate_it(
    place: Place, spare_node: str
) -> None:
    stays = on_spare("stays", spare_node)
    stays["spec"]["tolerations"] = [{"operator": "Exists"}]
    await place.run(on_spare("goes", spare_node))
    await place.run(stays)
    taint = "pods.test/leave=:NoExecute"
    await place.kubectl("taint", "node", spare_node, taint)
    try:
        last = await place.until_gone("goes")
        assert condition(last, "DisruptionTarget")["reason"] == "DeletionByTaintManager"
    finally:
        await place.kubectl("taint", "node", spare_node, f"{taint}-")
    assert (await place.pod("stays"))["metadata"].get("deletionTimestamp") is None
