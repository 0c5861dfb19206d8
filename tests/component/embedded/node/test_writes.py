"""What a pod costs the API server: few writes on its way, none when it is there."""

import asyncio
import os
from collections import Counter

import pytest
from tests.component.embedded.node.world import (
    LIMIT_S,
    World,
    a_pod,
    container,
    has_phase,
    is_ready,
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")


def writes(client: object) -> Counter[str]:
    """By resource, events left out: the client's own count of what it asked for."""
    found: Counter[str] = Counter()
    for (_, method, _, resource, _), times in client.traffic.requests.items():  # type: ignore[attr-defined]
        if method in ("POST", "PUT", "PATCH", "DELETE") and resource != "events":
            found[resource] += times
    return found


async def test_a_pod_comes_up_by_at_most_three_writes_and_is_silent_then(world: World) -> None:
    async with world.node(heartbeat_s=0.2) as node:
        client = node.pods._parts.client
        readiness = {"exec": {"command": ["true"]}, "periodSeconds": 1}
        before = writes(client)

        await world.create(
            a_pod(
                "web",
                initContainers=[container("first", "true")],
                more=[container("beside", "exec sleep 1000")],
                main={"readinessProbe": readiness},
            )
        )
        await world.until("web", is_ready)

        assert (writes(client) - before)["pods"] <= 3
        await beats(client, 5)  # what was told already may still echo
        idle = writes(client)
        await beats(client, 15)
        assert set(writes(client) - idle) == {"leases"}


async def beats(client: object, count: int) -> None:
    """The node's heart is its clock here: a machine that stands still costs no test."""
    until = writes(client)["leases"] + count
    async with asyncio.timeout(LIMIT_S):
        while writes(client)["leases"] < until:  # noqa: ASYNC110  # a count has no events
            await asyncio.sleep(0.05)


async def test_a_simple_pod_costs_three_writes_from_create_to_end(world: World) -> None:
    async with world.node() as node:
        client = node.pods._parts.client
        before = writes(client)

        await world.create(a_pod("worker", "sleep 0.5", restartPolicy="Never"))
        await world.until("worker", has_phase("Succeeded"))

        assert (writes(client) - before)["pods"] <= 3
