"""Nodes that only exist on paper, and pods that look for one."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from kubevirt.api.resource import Resource
from kubevirt.api.scheme import (
    EVENTS,
    LEASES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch, StrategicMergePatch
from kubevirt.kube.watch import WatchEvent

Object = dict[str, Any]

GRACE_S = 20
LIMIT_S = 120.0
NOT_READY = ("node.kubernetes.io/not-ready", "NoSchedule")
LEASES_OF_NODES = "kube-node-lease"
_BEAT_S = 2.0


def ready(status: str = "True") -> Object:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": "Ready",
        "status": status,
        "reason": "Test",
        "message": "says the test",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }


class Machines:
    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self._hearts: dict[str, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()
        self._made: list[tuple[Resource[Any], str]] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for heart in self._hearts.values():
            heart.cancel()
        await self._group.__aexit__(kind, error, trace)
        # Nodes last: pods on nodes that are gone would have to wait for the garbage collection.
        for pod in (await self.client.list(PODS, self.namespace)).items:
            await self.forget(PODS, pod.metadata.name, self.namespace, now=True)
        for resource, name in reversed(self._made):
            await self.forget(resource, name, LEASES_OF_NODES if resource is LEASES else None)

    async def forget(
        self, resource: Resource[Any], name: str, namespace: str | None = None, *, now: bool = False
    ) -> None:
        try:
            await self.client.delete(resource, name, namespace, grace_period_s=0 if now else None)
        except NotFound:
            return

    # Nodes

    async def node(self, name: str, *, alive: bool = True, **more: Any) -> str:
        """With two processors, 4 GiB and room for ten pods, unless `more` says otherwise. It renews its lease
        while it is `alive`. Returns its whole name, which no other test has: Kubernetes remembers for a moment how a
        node was, and would take a new one of the same name for the one that fell silent.
        """
        name = f"{name}-{self.namespace}"
        labels = {"kubernetes.io/hostname": name, **more.get("labels", {})}
        node = {"metadata": {"name": name, "labels": labels}, "spec": more.get("spec", {})}
        await self.client.create(NODES, node)
        self._made.append((NODES, name))
        room = {"cpu": "2", "memory": "4Gi", "pods": "10", **more.get("allocatable", {})}
        status = {"capacity": room, "allocatable": room, "conditions": [ready()]}
        await self.status(name, status)
        await self.node_until(name, lambda found: NOT_READY not in taints(found))
        if alive:
            lease = {"metadata": {"name": name}, "spec": _renewed(name)}
            await self.client.create(LEASES, lease, LEASES_OF_NODES)
            self._made.append((LEASES, name))
            self._hearts[name] = self._group.create_task(self._beat(name))
        return name

    async def status(self, name: str, status: Object) -> None:
        await self.client.patch_status(NODES, name, StrategicMergePatch({"status": status}))

    async def _beat(self, name: str) -> None:
        while True:
            await asyncio.sleep(_BEAT_S)
            change = MergePatch({"spec": _renewed(name)})
            await self.client.patch(LEASES, name, change, LEASES_OF_NODES)

    def fall_silent(self, name: str) -> None:
        self._hearts.pop(name).cancel()

    # Pods

    async def pod(self, name: str, **spec: Any) -> str:
        """Of one container that asks for `requests`. It is gone at once when it is deleted."""
        metadata = {"name": name, "labels": spec.pop("labels", {}), **spec.pop("metadata", {})}
        container = {
            "name": "main",
            "image": "test:1",
            "resources": {"requests": spec.pop("requests", {})},
            **spec.pop("container", {}),
        }
        whole = {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}
        await self.client.create(PODS.raw, {"metadata": metadata, "spec": whole}, self.namespace)
        return name

    async def placed(self, name: str) -> str:
        """The node that it got."""
        found = await self.pod_until(name, lambda pod: bool(pod["spec"].get("nodeName")))
        node: str = found["spec"]["nodeName"]
        return node

    async def refused(self, name: str) -> str:
        """Why it has none: without what comes behind the reasons, about preemption and devices to be freed,
        which only one home knows.
        """
        found = await self.pod_until(name, lambda pod: scheduled(pod).get("status") == "False")
        condition = scheduled(found)
        assert condition["reason"] == "Unschedulable"
        message: str = condition["message"]
        reasons, stop, _ = message.partition(". ")
        return reasons + "." if stop else message

    async def pod_until(self, name: str, holds: Callable[[Object], bool]) -> Object:
        found = await self.until(PODS.raw, name, lambda pod: pod is not None and holds(pod))
        assert found is not None
        return found

    async def pod_gone(self, name: str, *, limit_s: float = LIMIT_S) -> None:
        await self.until(PODS.raw, name, lambda pod: pod is None, limit_s=limit_s)

    async def node_until(self, name: str, holds: Callable[[Object], bool]) -> Object:
        found = await self.until(NODES.raw, name, lambda node: node is not None and holds(node))
        assert found is not None
        return found

    async def until(
        self,
        resource: Resource[Object],
        name: str,
        holds: Callable[[Object | None], bool],
        *,
        limit_s: float = LIMIT_S,
    ) -> Object | None:
        """The object as soon as that is so of it; None where it is gone by then."""
        namespace = self.namespace if resource.namespaced else None
        found: Object | None = None
        try:
            async with asyncio.timeout(limit_s):
                try:
                    found = await self.client.get(resource, name, namespace)
                except NotFound:
                    found = None
                if holds(found):
                    return found
                version = found["metadata"]["resourceVersion"] if found else None
                events = self.client.watch(
                    resource,
                    namespace,
                    resource_version=version,
                    field_selector=f"metadata.name={name}",
                    allow_bookmarks=False,
                    timeout_s=int(limit_s),
                )
                async for event in events:
                    found = _now(event)
                    if holds(found):
                        return found
        except TimeoutError:
            raise AssertionError(f"{name} did not come to be so in time: {found}") from None
        raise AssertionError(f"the watch of {name} ended: {found}")

    async def events(self, name: str, reason: str, *, namespace: str | None = None) -> list[str]:
        """The messages of all events with that reason about something, of which there is at least one."""
        selector = f"involvedObject.name={name},reason={reason}"
        async with asyncio.timeout(LIMIT_S):
            while True:
                found = await self.client.list(
                    EVENTS, namespace or self.namespace, field_selector=selector
                )
                if found.items:
                    return [each.message or "" for each in found.items]
                await asyncio.sleep(0.05)

    # Storage

    async def storage_class(self, name: str, mode: str, provisioner: str = "test.example/x") -> str:
        name = f"{name}-{self.namespace}"
        await self.client.create(
            STORAGE_CLASSES.raw,
            {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode},
        )
        self._made.append((STORAGE_CLASSES, name))
        return name

    async def claim(self, name: str, storage_class: str, **more: Any) -> str:
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": "1Gi"}},
            **more,
        }
        claim = {"metadata": {"name": name}, "spec": spec}
        await self.client.create(PERSISTENT_VOLUME_CLAIMS.raw, claim, self.namespace)
        return name

    async def volume(self, name: str, storage_class: str, node: str, **more: Any) -> str:
        """On one node only. Its own name: it is there for as long as its claim, and so is the claim's."""
        name = f"{name}-{self.namespace}"
        metadata = {"name": name, **more.pop("metadata", {})}
        here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/tmp/test"},
            "persistentVolumeReclaimPolicy": "Retain",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
            **more,
        }
        await self.client.create(PERSISTENT_VOLUMES.raw, {"metadata": metadata, "spec": spec})
        self._made.append((PERSISTENT_VOLUMES, name))
        return name

    def uses(self, claim: str) -> Object:
        return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}


def _renewed(name: str) -> Object:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now}


def _now(event: WatchEvent[Object]) -> Object | None:
    if event.type == "DELETED":
        return None
    assert isinstance(event.object, dict), event.object
    return event.object


def scheduled(pod: Object) -> Object:
    conditions = pod.get("status", {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})


def taints(node: Object) -> set[tuple[str, str]]:
    return {(each["key"], each["effect"]) for each in node["spec"].get("taints") or []}
