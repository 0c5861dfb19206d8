"""Pods leave nodes whose taints drive them off, each after the time for which it tolerates them."""

from collections.abc import Iterable

from kubevirt.api.core.node import Node
from kubevirt.base.clock import Clock
from kubevirt.embedded.controllers.nodes import taints
from kubevirt.embedded.controllers.nodes.bound import BOUND_PODS, BoundPod, with_condition
from kubevirt.embedded.controllers.nodes.patience import FOR_EVER, stay_s
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, ControllerSettings, Result
from kubevirt.kube.errors import Conflict, NotFound
from kubevirt.kube.events import EventRecorder, reference
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import StrategicMergePatch
from kubevirt.kube.triggers import own

_REASON = "TaintManagerEviction"


class Evictions:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        recorder: EventRecorder,
        *,
        nodes: Informer[Node],
        pods: Informer[BoundPod],
    ) -> None:
        """`pods` has an index `node`."""
        self._client = client
        self._clock = clock
        self._recorder = recorder
        self._nodes = nodes
        self._pods = pods
        self._counting: dict[Key, tuple[str, float]] = {}
        """Pods whose time runs: which pod, by uid, and since when."""
        self._controller: Controller[Key] = Controller(
            "taint-eviction", self._reconcile, clock=clock, settings=ControllerSettings(workers=4)
        )
        self._controller.watch(pods, own, when_changed=_place)
        self._controller.watch(nodes, self._pods_on, when_changed=taints.driving_off)

    async def run(self) -> None:
        await self._controller.run()

    def _pods_on(self, change: Change[Node]) -> Iterable[Key]:
        return [Key.of(pod) for pod in self._pods.by_index("node", change.key.name)]

    async def _reconcile(self, key: Key) -> Result:
        pod = self._pods.get(key)
        if pod is None or pod.metadata.deletion_timestamp or not pod.spec.node_name:
            self._counting.pop(key, None)
            return DONE
        node = self._nodes.get(Key("", pod.spec.node_name))
        driving = taints.driving_off(node) if node else ()
        limit_s = stay_s(pod.spec.tolerations, driving)
        if limit_s == FOR_EVER:
            if self._counting.pop(key, None):
                words = f"Cancelling deletion of Pod {key}"
                self._recorder.normal(reference(BOUND_PODS, pod), _REASON, words)
            return DONE
        left_s = self._since(key, pod) + limit_s - self._clock.monotonic()
        if left_s > 0:
            return After(left_s)
        await self._evict(key, pod)
        return DONE

    def _since(self, key: Key, pod: BoundPod) -> float:
        known = self._counting.get(key)
        if known is None or known[0] != pod.metadata.uid:
            known = self._counting[key] = (pod.metadata.uid, self._clock.monotonic())
        return known[1]

    async def _evict(self, key: Key, pod: BoundPod) -> None:
        words = f"Marking for deletion Pod {key}"
        self._recorder.normal(reference(BOUND_PODS, pod), _REASON, words)
        patch = with_condition(
            pod,
            self._clock.now(),
            type="DisruptionTarget",
            status="True",
            reason="DeletionByTaintManager",
            message="Taint manager: deleting due to NoExecute taint",
        )
        try:
            if patch:
                change = StrategicMergePatch(patch)
                await self._client.patch_status(BOUND_PODS, key.name, change, key.namespace)
            await self._client.delete(BOUND_PODS, key.name, key.namespace, uid=pod.metadata.uid)
        except (NotFound, Conflict):
            return  # it is gone, or another by now: the cache will say so


def _place(pod: BoundPod) -> object:
    return pod.metadata.uid, pod.metadata.deletion_timestamp, pod.spec
