"""The scheduler's and the kubelet's part: launchers' pods get a node, run, and end when they are told to."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from zlib import crc32

from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.components.controller.fresh import Fresh
from kubevirt.components.controller.kept import LAUNCHER_PODS, KeptPod
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, Controller, ControllerSettings, Result
from kubevirt.kube.errors import Conflict, NotFound
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import StrategicMergePatch
from kubevirt.virt.instance import pods as reading

CRASHED = 1


class FakePods:
    def __init__(self, client: Client, clock: Clock, nodes: Sequence[str], *, workers: int) -> None:
        self.crashing: set[str] = set()
        """Instances, by name, whose launchers end as soon as they are started."""
        self.waiting: set[str] = set()
        """Instances, by name, whose pods get no node. `look_again` after a change."""
        self.cache: Fresh[KeptPod] = Fresh(Informer(client, LAUNCHER_PODS, clock=clock))
        self._client = client
        self._clock = clock
        self._nodes = nodes
        self._ended: dict[str, int] = {}
        """Pods, by UID, whose launchers have ended, and with which code."""
        self._controller: Controller[Key] = Controller(
            "fake-kubelet",
            self._reconcile,
            clock=clock,
            settings=ControllerSettings(workers=workers),
        )
        self._controller.watch(self.cache.informer, self._of_pod)

    async def run(self) -> None:
        async with background(self.cache.informer.run()):
            await self._controller.run()

    def look_again(self) -> None:
        for pod in self.cache.informer:
            self._controller.queue.add(Key.of(pod))

    def of(self, uid: str) -> list[KeptPod]:
        """Those of an instance that have not ended."""
        return [each for each in self.cache.owned_by(uid) if not reading.is_finished(each.whole)]

    def end(self, pod: KeptPod, code: int = 0) -> None:
        """Its launcher ends."""
        self._ended[pod.metadata.uid] = code
        self._controller.queue.add(Key.of(pod))

    def _of_pod(self, change: Change[KeptPod]) -> Iterable[Key]:
        if change.is_deleted:
            self._ended.pop(change.object.metadata.uid, None)
        return (change.key,) if self.cache.is_news(change) and _instance(change.object) else ()

    async def _reconcile(self, key: Key) -> Result:
        pod = self.cache.get(key)
        if pod is None:
            return DONE
        with suppress(NotFound, Conflict):  # it is gone or another: the cache will say so
            await self._live(key, pod)
        return DONE

    async def _live(self, key: Key, pod: KeptPod) -> None:
        is_over = reading.is_finished(pod.whole)
        code = self._ended.get(pod.metadata.uid)
        if pod.metadata.deletion_timestamp is not None:
            if not is_over and pod.spec.node_name:
                await self._tell(key, pod, self._end(pod, code or 0))
            uid = pod.metadata.uid
            await self._client.delete(
                LAUNCHER_PODS, key.name, key.namespace, uid=uid, grace_period_s=0
            )
        elif is_over or (not pod.spec.node_name and _instance(pod) in self.waiting):
            return
        elif not pod.spec.node_name:
            node = self._nodes[crc32(key.name.encode()) % len(self._nodes)]
            await self._client.bind(key.name, key.namespace, node)
        elif code is not None or _instance(pod) in self.crashing:
            await self._tell(key, pod, self._end(pod, CRASHED if code is None else code))
        else:
            await self._tell(key, pod, self._up(pod))

    async def _tell(self, key: Key, pod: KeptPod, status: dict[str, Any]) -> None:
        if _is_told(pod, status):
            return
        patch = StrategicMergePatch({"metadata": {"uid": pod.metadata.uid}, "status": status})
        async with self.cache.writing(key, self._controller.queue.add) as write:
            write.answer = await self._client.patch_status(
                LAUNCHER_PODS, key.name, patch, key.namespace
            )

    def _up(self, pod: KeptPod) -> dict[str, Any]:
        now = self._second()
        gates = [each.condition_type for each in pod.spec.readiness_gates]
        opened = {each.type for each in pod.status.conditions if each.status == "True"}
        closed = [each for each in gates if each not in opened]
        reason = "ReadinessGatesNotReady" if closed else None
        ready = {"type": "Ready", "status": str(not closed), "reason": reason}
        return {
            "phase": "Running",
            "podIP": _address(pod),
            "podIPs": [{"ip": _address(pod)}],
            "conditions": [
                {"type": "ContainersReady", "status": "True", "lastTransitionTime": now},
                {**ready, "lastTransitionTime": now},
            ],
            "containerStatuses": _containers(pod, {"running": {"startedAt": now}}),
        }

    def _end(self, pod: KeptPod, code: int) -> dict[str, Any]:
        ended = {"exitCode": code, "finishedAt": self._second(), "reason": "Completed"}
        ready = {"type": "Ready", "status": "False", "reason": "PodCompleted"}
        return {
            "phase": "Failed" if code else "Succeeded",
            "conditions": [{**ready, "lastTransitionTime": self._second()}],
            "containerStatuses": _containers(pod, {"terminated": ended}),
        }

    def _second(self) -> datetime:
        return self._clock.now().replace(microsecond=0)


def _instance(pod: KeptPod) -> str:
    """The name of the instance that a pod belongs to; empty if to none."""
    owners = pod.metadata.owner_references
    return next((each.name for each in owners if each.kind == "VirtualMachineInstance"), "")


def _is_told(pod: KeptPod, status: dict[str, Any]) -> bool:
    """Times apart: what else a write would change."""
    told = {each.type: each.status for each in pod.status.conditions}
    asked = {each["type"]: each["status"] for each in status["conditions"]}
    return pod.status.phase == status["phase"] and asked.items() <= told.items()


def _address(pod: KeptPod) -> str:
    number = crc32(pod.metadata.uid.encode())
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _containers(pod: KeptPod, state: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "image": each.image or "none",
            "imageID": f"fake://{each.name}",
            "ready": "running" in state,
            "started": "running" in state,
            "restartCount": 0,
            "state": state,
        }
        for each in pod.spec.containers
    ]
