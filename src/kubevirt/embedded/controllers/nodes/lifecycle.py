"""Hears from nodes, or does not, and says so: conditions, taints, and that their pods are not ready.

A node is heard of when its lease is renewed or its heartbeat changes. The time of that is our own: clocks of
nodes may be wrong.
"""

from collections.abc import Iterable
from typing import Any

from kubevirt.api.core.lease import Lease
from kubevirt.api.core.node import Node
from kubevirt.api.scheme import NODES
from kubevirt.base.clock import Clock
from kubevirt.embedded.controllers.nodes import health, taints
from kubevirt.embedded.controllers.nodes.bound import BOUND_PODS, BoundPod, with_condition
from kubevirt.embedded.controllers.nodes.settings import NodeSettings
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, ControllerSettings, Result
from kubevirt.kube.errors import Conflict, NotFound
from kubevirt.kube.events import EventRecorder, reference
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch, StrategicMergePatch

LEASES_OF_NODES = "kube-node-lease"


class Lifecycle:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        recorder: EventRecorder,
        settings: NodeSettings,
        *,
        nodes: Informer[Node],
        leases: Informer[Lease],
        pods: Informer[BoundPod],
    ) -> None:
        """`pods` has an index `node`."""
        self._client = client
        self._clock = clock
        self._recorder = recorder
        self._settings = settings
        self._nodes = nodes
        self._leases = leases
        self._pods = pods
        self._heard: dict[str, float] = {}
        """Of each node, when there was last a sign of life."""
        self._ready: dict[str, bool] = {}
        """Of each node, whether it was when last looked at."""
        self._controller: Controller[str] = Controller(
            "node-lifecycle",
            self._reconcile,
            clock=clock,
            settings=ControllerSettings(workers=2),
            wait_for=(leases, pods),
        )
        self._controller.watch(nodes, self._touched, when_changed=_state)
        nodes.add_handler(self._announce)
        nodes.add_handler(self._hear_node)
        leases.add_handler(self._hear_lease)

    async def run(self) -> None:
        await self._controller.run()

    def _touched(self, change: Change[Node]) -> Iterable[str]:
        """Whether a node is ready bears on all others, too."""
        old, new = change.old, change.new
        if old and new and health.is_ready(old) == health.is_ready(new):
            return (change.key.name,)
        return [each.metadata.name for each in self._nodes] or [change.key.name]

    def _announce(self, change: Change[Node]) -> None:
        name = change.key.name
        if change.is_added:
            words = f"Node {name} event: Registered Node {name} in Controller"
            self._recorder.normal(reference(NODES, change.object), "RegisteredNode", words)
        elif change.is_deleted:
            words = f"Node {name} event: Removing Node {name} from Controller"
            self._recorder.normal(reference(NODES, change.object), "RemovingNode", words)

    def _hear_node(self, change: Change[Node]) -> None:
        if change.old is None or change.new is None or _beat(change.old) != _beat(change.new):
            self._heard[change.key.name] = self._clock.monotonic()

    def _hear_lease(self, change: Change[Lease]) -> None:
        old, new = change.old, change.new
        if new and (old is None or old.spec.renew_time != new.spec.renew_time):
            self._heard[change.key.name] = self._clock.monotonic()

    async def _reconcile(self, name: str) -> Result:
        node = self._nodes.get(Key("", name))
        if node is None:
            self._heard.pop(name, None)
            self._ready.pop(name, None)
            return DONE
        left_s = self._left_s(node)
        if left_s <= 0:
            node = await self._call_lost(node)
        await self._taint(node)
        await self._tell_pods(node)
        return After(left_s if left_s > 0 else self._settings.grace_s)

    def _left_s(self, node: Node) -> float:
        """Seconds until a node that is not heard of counts as lost."""
        now = self._clock.monotonic()
        has_spoken = health.condition(node, health.READY) is not None
        grace_s = self._settings.grace_s if has_spoken else self._settings.first_grace_s
        return self._heard.get(node.metadata.name, now) + grace_s - now

    async def _call_lost(self, node: Node) -> Node:
        conditions = health.lost(node, self._clock.now())
        if not conditions:
            return node
        body: dict[str, Any] = {"metadata": _exactly(node), "status": {"conditions": conditions}}
        patch = StrategicMergePatch(body)
        return await self._client.patch_status(NODES, node.metadata.name, patch)

    async def _taint(self, node: Node) -> None:
        name = node.metadata.name
        others = [each for each in self._nodes if each.metadata.name != name]
        is_any_ready = any(health.is_ready(each) for each in (node, *others))
        wanted = taints.wanted(node, self._clock.now(), is_any_ready=is_any_ready)
        if wanted == node.spec.taints:
            return
        # A list is written whole, so only onto the version that it was made from.
        patch = MergePatch({"metadata": _exactly(node), "spec": {"taints": wanted or None}})
        await self._client.patch(NODES, name, patch)

    async def _tell_pods(self, node: Node) -> None:
        """That they are not ready, once, when their node turns: what comes later is the node's own word."""
        name, is_ready = node.metadata.name, health.is_ready(node)
        if is_ready or not self._ready.get(name, False):
            self._ready[name] = is_ready
            return
        words = f"Node {name} status is now: NodeNotReady"
        self._recorder.normal(reference(NODES, node), "NodeNotReady", words)
        for pod in self._pods.by_index("node", name):
            await self._not_ready(pod)
        self._ready[name] = False

    async def _not_ready(self, pod: BoundPod) -> None:
        ready = next((each for each in pod.status.conditions if each.type == "Ready"), None)
        if ready is None or ready.status != "True":
            return
        patch = with_condition(pod, self._clock.now(), type="Ready", status="False")
        if patch is None:
            return
        namespace, name = pod.metadata.namespace, pod.metadata.name
        try:
            change = StrategicMergePatch(patch)
            await self._client.patch_status(BOUND_PODS, name, change, namespace)
        except (NotFound, Conflict):
            return  # it is gone, or another by now
        self._recorder.warning(reference(BOUND_PODS, pod), "NodeNotReady", "Node is not ready")


def _state(node: Node) -> object:
    """All but the heartbeats."""
    conditions = [(each.type, each.status) for each in node.status.conditions]
    return node.metadata.uid, node.spec, conditions


def _beat(node: Node) -> object:
    ready = health.condition(node, health.READY)
    return ready.last_heartbeat_time if ready else None


def _exactly(node: Node) -> dict[str, str]:
    version = node.metadata.resource_version
    return {"resourceVersion": version} if version else {}
