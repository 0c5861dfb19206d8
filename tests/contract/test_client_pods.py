"""Calls that only pods know, on pods that no node runs; real programs are for the whole cluster."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.lamps import PODS, a_pod

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, BadRequest, Conflict, NotFound, TooManyRequests
from kubevirt.kube.patches import MergePatch

BUDGETS: Resource[dict[str, Any]] = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, dict[str, Any]
)


async def run(client: Client, pod: str, namespace: str) -> int:
    async with client.exec(pod, namespace, ["true"]) as process:
        return await process.exit_code()


async def changes(
    client: Client, namespace: str, name: str, wanted: Callable[[dict[str, Any]], bool]
) -> None:
    """Until a budget is as wanted."""
    watch = client.watch(
        BUDGETS, namespace, resource_version=None, field_selector=f"metadata.name={name}"
    )
    async with asyncio.timeout(120):
        async for event in watch:
            if isinstance(event.object, dict) and wanted(event.object.get("status", {})):
                return


async def test_a_pod_is_evicted(client: Client, namespace: str) -> None:
    made = await client.create(PODS, a_pod("web"), namespace)
    await client.evict("web", namespace, dry_run=True)
    with pytest.raises(Conflict):
        await client.evict("web", namespace, uid="another")
    await client.evict("web", namespace, uid=made["metadata"]["uid"], grace_period_s=0)
    with pytest.raises(NotFound):
        await client.get(PODS, "web", namespace)
    with pytest.raises(NotFound, match='pods "web" not found'):
        await client.evict("web", namespace)


async def test_a_disruption_budget_stands_before_an_eviction(
    client: Client, namespace: str
) -> None:
    labels = {"app": "web"}
    await client.create(PODS, a_pod("web", labels), namespace)
    await client.bind("web", namespace, "node-1")
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await client.patch_status(PODS, "web", MergePatch({"status": ready}), namespace)
    budget = {
        "metadata": {"name": "keep"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
    }
    await client.create(BUDGETS, budget, namespace)
    await changes(client, namespace, "keep", lambda status: status.get("currentHealthy") == 1)
    with pytest.raises(TooManyRequests, match="disruption budget") as caught:
        await client.evict("web", namespace)
    assert caught.value.has_cause("DisruptionBudget")


async def test_a_pod_is_bound_to_a_node_once(client: Client, namespace: str) -> None:
    await client.create(PODS, a_pod("web"), namespace)
    with pytest.raises(Conflict):
        await client.bind("web", namespace, "node-1", uid="another")
    await client.bind("web", namespace, "node-1", dry_run=True)
    assert "nodeName" not in (await client.get(PODS, "web", namespace))["spec"]
    await client.bind("web", namespace, "node-1")
    assert (await client.get(PODS, "web", namespace))["spec"]["nodeName"] == "node-1"
    with pytest.raises(Conflict, match="is already assigned to node"):
        await client.bind("web", namespace, "node-2")


async def test_a_program_needs_a_pod_that_is_there(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound, match='pods "web" not found'):
        await run(client, "web", namespace)


async def test_a_program_needs_a_pod_that_runs_somewhere(client: Client, namespace: str) -> None:
    await client.create(PODS, a_pod("web"), namespace)
    with pytest.raises(BadRequest, match="does not have a host assigned"):
        await run(client, "web", namespace)
    await client.bind("web", namespace, "nowhere")
    with pytest.raises(ApiError, match="nowhere"):
        await run(client, "web", namespace)


async def test_a_log_needs_a_pod_and_a_container_that_are_there(
    client: Client, namespace: str
) -> None:
    with pytest.raises(NotFound, match='pods "web" not found'):
        await anext(client.log("web", namespace))
    await client.create(PODS, a_pod("web"), namespace)
    assert [piece async for piece in client.log("web", namespace)] == []
    with pytest.raises(BadRequest, match="container other is not valid for pod web"):
        await anext(client.log("web", namespace, container="other"))
