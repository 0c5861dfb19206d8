"""The controllers of nodes beside a real server: quiet while all is well, and patient."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.home_server import HomeServer, a_pod_spec, home_server

from clusterup import waiting
from kubevirt.api.core.node import Node
from kubevirt.api.scheme import LEASES, NODES, PODS, SERVICE_ACCOUNTS
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.embedded.controllers.controlling import controlling
from kubevirt.embedded.controllers.nodes import health
from kubevirt.embedded.controllers.nodes.settings import NodeSettings
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch, StrategicMergePatch

LIMIT_S = 60.0
LEASE_NAMESPACE = "kube-node-lease"
HASTY = NodeSettings(grace_s=6.0, first_grace_s=2.0, quarantine_s=5.0)
"""Long enough for a heart to beat on a machine that stands still for seconds."""


class Home:
    def __init__(self, server: HomeServer, admin: Client) -> None:
        self.server = server
        self.admin = admin

    async def node(self, name: str) -> None:
        await self.admin.create(NODES.raw, {"metadata": {"name": name}})
        await self.say_ready(name)

    async def say_ready(self, name: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": now}
        patch = StrategicMergePatch({"status": {"conditions": [ready]}})
        await self.admin.patch_status(NODES, name, patch)

    async def heart(self, name: str) -> None:
        """Renews a lease, much more often than it has to."""
        await self.admin.create(LEASES.raw, {"metadata": {"name": name}}, LEASE_NAMESPACE)
        while True:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            patch = MergePatch({"spec": {"renewTime": now}})
            await self.admin.patch(LEASES, name, patch, LEASE_NAMESPACE)
            await asyncio.sleep(0.2)

    async def pod(self, name: str, node: str) -> None:
        body: Any = {"metadata": {"name": name}, "spec": a_pod_spec(nodeName=node)}
        await self.admin.create(PODS.raw, body, "default")

    async def is_there(self, pod: str) -> bool:
        try:
            await self.admin.get(PODS.metadata_only, pod, "default")
        except NotFound:
            return False
        return True

    async def until(self, name: str, status: str) -> Node:
        """The node, when its readiness is that."""

        async def is_so() -> bool:
            found = health.condition(await self.admin.get(NODES, name), health.READY)
            return found is not None and found.status == status

        await waiting.until(is_so, limit_s=LIMIT_S, what=f"Ready of {name} is {status}")
        return await self.admin.get(NODES, name)

    @asynccontextmanager
    async def controlled(self) -> AsyncIterator[Client]:
        clock = SystemClock()
        async with (
            self.server.client() as client,
            controlling(client, clock, settings=HASTY),
        ):
            yield client


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    async with home_server(tmp_path) as server, server.client() as admin:

        async def has_account() -> bool:
            try:
                await admin.get(SERVICE_ACCOUNTS, "default", "default")
            except NotFound:
                return False
            return True

        await waiting.until(has_account, limit_s=LIMIT_S, what="pods can be created")
        yield Home(server, admin)


def writes(client: Client) -> int:
    """Of whatever but events."""
    return sum(
        count
        for (_, method, _, resource, _), count in client.traffic.requests.items()
        if method != "GET" and resource != "events"
    )


async def test_a_node_that_renews_its_lease_costs_no_write(home: Home) -> None:
    await home.node("one")
    async with home.controlled() as client, background(home.heart("one")):
        await asyncio.sleep(1.5 * HASTY.grace_s)

        assert writes(client) == 0
        assert health.is_ready(await home.admin.get(NODES, "one"))


async def test_a_node_that_comes_back_is_as_before(home: Home) -> None:
    await home.node("one")
    async with home.controlled():
        lost = await home.until("one", "Unknown")
        assert [each.status for each in lost.status.conditions] == ["Unknown"] * 4

        async with background(home.heart("one")):
            await home.say_ready("one")

            async def is_clean() -> bool:
                return not (await home.admin.get(NODES, "one")).spec.taints

            await waiting.until(is_clean, limit_s=LIMIT_S, what="the taints are gone")
            await asyncio.sleep(1.5 * HASTY.grace_s)
            assert health.is_ready(await home.admin.get(NODES, "one"))


async def test_a_node_that_never_said_anything_is_lost_too(home: Home) -> None:
    await home.admin.create(NODES.raw, {"metadata": {"name": "mute"}})
    async with home.controlled():
        node = await home.until("mute", "Unknown")

    ready = health.condition(node, health.READY)
    assert ready is not None
    assert ready.message == "Kubelet never posted node status."


async def test_pods_wait_for_a_node_that_registers_anew(home: Home) -> None:
    await home.node("one")
    await home.pod("here", "one")
    async with home.controlled(), background(home.heart("one")):
        await home.admin.delete(NODES, "one")
        await asyncio.sleep(0.2)
        await home.node("one")
        await asyncio.sleep(1.5 * HASTY.quarantine_s)

        assert await home.is_there("here")


async def test_a_pod_of_a_node_that_was_never_there_goes(home: Home) -> None:
    await home.pod("lost", "nowhere")
    async with home.controlled():

        async def is_gone() -> bool:
            return not await home.is_there("lost")

        await waiting.until(is_gone, limit_s=LIMIT_S, what="the pod is gone")


async def test_a_pod_that_is_going_on_a_node_out_of_service_is_let_go(home: Home) -> None:
    await home.node("one")
    await home.pod("stuck", "one")
    await home.admin.delete(PODS, "stuck", "default", grace_period_s=600)
    async with home.controlled():
        await home.until("one", "Unknown")
        assert await home.is_there("stuck")
        taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoSchedule"}
        node = await home.admin.get(NODES.raw, "one")
        taints = [*(node["spec"].get("taints") or []), taint]
        await home.admin.patch(NODES, "one", MergePatch({"spec": {"taints": taints}}))

        async def is_gone() -> bool:
            return not await home.is_there("stuck")

        await waiting.until(is_gone, limit_s=LIMIT_S, what="the pod is gone")
