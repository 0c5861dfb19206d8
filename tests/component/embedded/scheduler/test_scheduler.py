"""The scheduler beside a real server: how much it asks, and what it does when things go wrong."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.home_server import HomeServer, a_pod_spec, home_server

from clusterup import waiting
from kubevirt.api.scheme import (
    EVENTS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    PRIORITY_CLASSES,
    SERVICE_ACCOUNTS,
    STORAGE_CLASSES,
)
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import Unreachable
from kubevirt.embedded.scheduler.binding import BindingSettings
from kubevirt.embedded.scheduler.scheduler import scheduling
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch, StrategicMergePatch

LIMIT_S = 60.0
NAMESPACE = "default"


class Home:
    """A server, an administrator, and a node that is only on paper."""

    def __init__(self, server: HomeServer, admin: Client) -> None:
        self.server = server
        self.admin = admin

    async def node(self, name: str, **room: str) -> None:
        await self.admin.create(NODES.raw, {"metadata": {"name": name}})
        offered = {"cpu": "200", "memory": "400Gi", "pods": "1000", **room}
        status = {"capacity": offered, "allocatable": offered}
        await self.admin.patch_status(NODES, name, MergePatch({"status": status}))

    async def pod(self, name: str, cpu: str = "100m", **spec: Any) -> None:
        whole = a_pod_spec(terminationGracePeriodSeconds=0, **spec)
        whole["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        await self.admin.create(PODS.raw, {"metadata": {"name": name}, "spec": whole}, NAMESPACE)

    async def nodes_of_pods(self) -> dict[str, str]:
        pods = (await self.admin.list(PODS, NAMESPACE)).items
        return {
            pod.metadata.name: pod.spec.node_name for pod in pods if pod.spec and pod.spec.node_name
        }

    async def until_bound(self, *names: str) -> None:
        async def are_bound() -> bool:
            return set(names) <= set(await self.nodes_of_pods())

        await waiting.until(are_bound, limit_s=LIMIT_S, what=f"{names} have nodes")

    async def until_told(self, name: str, words: str) -> None:
        async def is_told() -> bool:
            pod = await self.admin.get(PODS, name, NAMESPACE)
            return any(words in (each.message or "") for each in pod.status.conditions)

        await waiting.until(is_told, limit_s=LIMIT_S, what=f"{name} is told: {words}")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    async with home_server(tmp_path) as server, server.client() as admin:

        async def has_account() -> bool:
            try:
                await admin.get(SERVICE_ACCOUNTS, "default", NAMESPACE)
            except NotFound:
                return False
            return True

        await waiting.until(has_account, limit_s=LIMIT_S, what="pods can be created")
        yield Home(server, admin)


def asked(client: Client) -> Counter[tuple[str, str]]:
    """Method and resource of what was asked, without events."""
    return Counter(
        {
            (method, resource): count
            for (_, method, _, resource, _), count in client.traffic.requests.items()
            if resource != "events"
        }
    )


async def test_a_hundred_pods_at_once_cost_a_hundred_bindings_and_no_list(home: Home) -> None:
    await home.node("one")
    names = [f"pod-{number}" for number in range(100)]
    async with home.server.client() as client, scheduling(client, SystemClock()):
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(home.pod(name))
        await home.until_bound(*names)

    found = asked(client)
    assert found.pop(("POST", "pods")) == 100
    assert {method for method, _ in found} == {"GET"}
    assert max(found.values()) <= 2, "one stream for each kind, which may have to be opened anew"


async def test_a_pod_that_fits_nowhere_is_written_to_once(home: Home) -> None:
    await home.node("one", cpu="1")
    async with home.server.client() as client, scheduling(client, SystemClock()):
        await home.pod("large", cpu="2")
        await home.until_told("large", "Insufficient cpu")
        for number in range(20):
            heartbeat = {"type": "Ready", "status": "True", "lastHeartbeatTime": _time(number)}
            patch = StrategicMergePatch({"status": {"conditions": [heartbeat]}})
            await home.admin.patch_status(NODES, "one", patch)
            label = MergePatch({"metadata": {"labels": {"beat": str(number)}}})
            await home.admin.patch(NODES, "one", label)
        # Whoever comes last is told when all before have been looked at.
        await home.pod("last", cpu="3")
        await home.until_told("last", "Insufficient cpu")

    assert asked(client)["PATCH", "pods"] == 2


def _time(number: int) -> str:
    return f"2030-01-01T00:00:{number:02}Z"


async def test_the_more_important_pod_gets_the_room(home: Home) -> None:
    await home.admin.create(
        PRIORITY_CLASSES.raw, {"metadata": {"name": "important"}, "value": 1000}
    )
    await home.node("one", cpu="1")
    async with home.server.client() as client, scheduling(client, SystemClock()):
        await home.pod("first", cpu="1")
        await home.until_bound("first")
        await home.pod("plain", cpu="1")
        await home.pod("important", cpu="1", priorityClassName="important")
        for name in ("plain", "important"):
            await home.until_told(name, "Insufficient cpu")

        await home.admin.delete(PODS, "first", NAMESPACE, grace_period_s=0)
        await home.until_bound("important")

    assert await home.nodes_of_pods() == {"important": "one"}


async def test_a_scheduler_that_comes_back_goes_on_where_it_was(home: Home) -> None:
    await home.node("one", cpu="1")
    async with home.server.client() as client, scheduling(client, SystemClock()):
        await home.pod("before", cpu="600m")
        await home.until_bound("before")
    await home.pod("meanwhile", cpu="600m")

    async with home.server.client() as client, scheduling(client, SystemClock()):
        await home.until_told("meanwhile", "Insufficient cpu")
        await home.admin.delete(PODS, "before", NAMESPACE, grace_period_s=0)
        await home.until_bound("meanwhile")


class Bad(Client):
    """A client whose bindings go wrong a few times."""

    fails: Callable[[], bool]
    is_heard = True
    """Whether the server has done what was asked, though nobody hears of it."""

    async def bind(
        self, pod: str, namespace: str, node: str, *, uid: str | None = None, dry_run: bool = False
    ) -> None:
        if not self.fails():
            await super().bind(pod, namespace, node, uid=uid, dry_run=dry_run)
            return
        if self.is_heard:
            await super().bind(pod, namespace, node, uid=uid, dry_run=dry_run)
        raise Unreachable("the line is cut")


@pytest.mark.parametrize("is_heard", [True, False])
async def test_no_room_is_given_twice_though_answers_are_lost(
    home: Home, *, is_heard: bool
) -> None:
    await home.node("one", cpu="1")
    left = iter([True, True, True])
    async with home.server.client() as plain, Bad(plain.config) as client:
        client.fails = lambda: next(left, False)
        client.is_heard = is_heard
        async with scheduling(client, SystemClock()):
            for name in ("a", "b", "c"):
                await home.pod(name, cpu="400m")

            async def is_settled() -> bool:
                pods = (await home.admin.list(PODS, NAMESPACE)).items
                refused = [
                    pod
                    for pod in pods
                    if any(each.status == "False" for each in pod.status.conditions)
                ]
                return len(await home.nodes_of_pods()) == 2 and len(refused) == 1

            await waiting.until(is_settled, limit_s=LIMIT_S, what="two fit, one does not")


async def test_a_pod_that_goes_while_it_is_bound_leaves_its_room(home: Home) -> None:
    await home.node("one", cpu="1")
    async with home.server.client() as client, scheduling(client, SystemClock()):
        for number in range(10):
            await home.pod(f"short-{number}", cpu="1")
            await home.admin.delete(PODS, f"short-{number}", NAMESPACE, grace_period_s=0)
        await home.pod("stays", cpu="1")
        await home.until_bound("stays")


async def test_a_volume_that_never_comes_is_complained_about(home: Home) -> None:
    await home.node("one")
    made_by = {"provisioner": "example.com/nobody", "volumeBindingMode": "WaitForFirstConsumer"}
    await home.admin.create(STORAGE_CLASSES.raw, {"metadata": {"name": "slow"}, **made_by})
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "slow",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    claim = {"metadata": {"name": "data"}, "spec": spec}
    await home.admin.create(PERSISTENT_VOLUME_CLAIMS.raw, claim, NAMESPACE)
    hasty = BindingSettings(volume_limit_s=0.5)
    async with home.server.client() as client, scheduling(client, SystemClock(), hasty):
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        await home.pod("user", volumes=[volume])

        async def is_told() -> bool:
            selector = "involvedObject.name=user,reason=FailedScheduling"
            events = await home.admin.list(EVENTS, NAMESPACE, field_selector=selector)
            return bool(events.items)

        await waiting.until(is_told, limit_s=LIMIT_S, what="the pod hears of it")
        assert await home.nodes_of_pods() == {}
        # It keeps its place in line, and others get what it leaves.
        await home.pod("other", cpu="200")
        await home.until_bound("other")
