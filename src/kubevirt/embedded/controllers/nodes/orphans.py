"""Pods that no node will ever see to the end of: they are marked as failed, and deleted at once.

They are bound to a node that is gone, or are going on one that somebody has declared out of service, or are
going and have no node.
"""

from collections.abc import Iterable

from kubevirt.api.core.node import Node
from kubevirt.api.scheme import NODES
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.embedded.controllers.nodes import health, taints
from kubevirt.embedded.controllers.nodes.bound import BOUND_PODS, ENDED, BoundPod, with_condition
from kubevirt.embedded.controllers.nodes.settings import NodeSettings
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, ControllerSettings, Result
from kubevirt.kube.errors import Conflict, NotFound
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import StrategicMergePatch
from kubevirt.kube.triggers import own

log = get_logger(__name__)


class Orphans:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        settings: NodeSettings,
        *,
        nodes: Informer[Node],
        pods: Informer[BoundPod],
    ) -> None:
        """`pods` has an index `node`."""
        self._client = client
        self._clock = clock
        self._settings = settings
        self._nodes = nodes
        self._pods = pods
        self._missing: dict[str, float] = {}
        """Nodes that pods name and nobody has, and since when."""
        self._controller: Controller[Key] = Controller(
            "pod-garbage", self._reconcile, clock=clock, settings=ControllerSettings(workers=4)
        )
        self._controller.watch(pods, own, when_changed=_place)
        self._controller.watch(nodes, self._pods_on, when_changed=_service)

    async def run(self) -> None:
        await self._controller.run()

    def _pods_on(self, change: Change[Node]) -> Iterable[Key]:
        if change.new is not None:
            self._missing.pop(change.key.name, None)
        return [Key.of(pod) for pod in self._pods.by_index("node", change.key.name)]

    async def _reconcile(self, key: Key) -> Result:
        pod = self._pods.get(key)
        if pod is None:
            return DONE
        if not pod.spec.node_name:
            if pod.metadata.deletion_timestamp:
                await self._end(key, pod, "")
            return DONE
        node = self._nodes.get(Key("", pod.spec.node_name))
        if node is not None:
            if pod.metadata.deletion_timestamp and _is_out_of_service(node):
                await self._end(key, pod, "")
            return DONE
        return await self._of_missing(key, pod)

    async def _of_missing(self, key: Key, pod: BoundPod) -> Result:
        name, now = pod.spec.node_name, self._clock.monotonic()
        left_s = self._missing.setdefault(name, now) + self._settings.quarantine_s - now
        if left_s > 0:
            return After(left_s)
        try:
            await self._client.get(NODES.metadata_only, name)
        except NotFound:
            await self._end(key, pod, "PodGC: node no longer exists")
        return DONE

    async def _end(self, key: Key, pod: BoundPod, why: str) -> None:
        log.info("pod without a node is deleted", pod=str(key), node=pod.spec.node_name)
        try:
            if pod.status.phase not in ENDED:
                patch = StrategicMergePatch(self._failed(pod, why))
                await self._client.patch_status(BOUND_PODS, key.name, patch, key.namespace)
            await self._client.delete(
                BOUND_PODS, key.name, key.namespace, uid=pod.metadata.uid, grace_period_s=0
            )
        except (NotFound, Conflict):
            return  # it is gone, or another by now: the cache will say so

    def _failed(self, pod: BoundPod, why: str) -> dict[str, object]:
        target = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}
        marked = with_condition(pod, self._clock.now(), **target, message=why) if why else None
        status = dict(marked["status"]) if marked else {}
        return {"metadata": {"uid": pod.metadata.uid}, "status": {**status, "phase": "Failed"}}


def _is_out_of_service(node: Node) -> bool:
    is_declared = any(each.key == taints.OUT_OF_SERVICE for each in node.spec.taints)
    return is_declared and not health.is_ready(node)


def _place(pod: BoundPod) -> object:
    return pod.metadata.uid, pod.metadata.deletion_timestamp, pod.spec.node_name


def _service(node: Node) -> object:
    return node.metadata.uid, node.spec.taints, health.is_ready(node)
