"""All pods of a node: a worker for each, and where to find what belongs to them."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.node import admission, machine, records
from kubevirt.embedded.node.admission import Place
from kubevirt.embedded.node.endpoint.finding import Located
from kubevirt.embedded.node.parts import Parts
from kubevirt.embedded.node.records import PodRecords
from kubevirt.embedded.node.seen import Verdict
from kubevirt.embedded.node.worker import PodWorker
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.scheduler import demand
from kubevirt.kube.cache.store import Change

log = get_logger(__name__)

_AFTER_BUG_S: Final = 5.0
_NOBODY: Final = Verdict(
    reason="UnexpectedAdmissionError",
    message="the node does not know its own object yet",
    is_refusal=True,
)


class Pods:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._workers: dict[str, PodWorker] = {}
        """By UID: a name may be another pod's by now."""
        self._tasks: asyncio.TaskGroup | None = None
        self._stopped = asyncio.Event()
        self._ceiling_s: float | None = None
        """Set when the home goes down."""

    @property
    def _is_going_down(self) -> bool:
        return self._ceiling_s is not None

    async def run(self) -> None:
        """Until cancelled, or until all have stopped after `stop_all`."""
        async with asyncio.TaskGroup() as self._tasks:
            await self._stopped.wait()

    def changed(self, change: Change[Pod]) -> None:
        """For the informer of this node's pods."""
        old, new = change.old, change.new
        if new is not None:
            worker = self._workers.get(new.metadata.uid)
            if worker is not None:
                worker.update(new)
            elif not self._is_going_down:
                self._take_on(new, self._records(new.metadata.uid))
        elif old is not None and (worker := self._workers.get(old.metadata.uid)):
            worker.remove()

    def find_orphans(self) -> None:
        """What runs here and has no object any more. All pods that have one must be known by now."""
        uids = [each.name for each in self._parts.settings.pods.iterdir()]
        for uid in uids:
            if uid not in self._workers:
                log.info("pod without an object found", uid=uid)
                self._take_on(_orphan(uid, self._records(uid)), self._records(uid)).remove()

    async def stop_all(self, ceiling_s: float) -> None:
        """Because the home goes down: each with its grace period, but no more than `ceiling_s`."""
        self._ceiling_s = ceiling_s
        for worker in list(self._workers.values()):
            worker.go_down(ceiling_s)
        if not self._workers:
            self._stopped.set()
        await self._stopped.wait()

    def wake(self, uid: str) -> None:
        """Somebody has news for a pod: a volume that it waited for, or that holds too much."""
        if worker := self._workers.get(uid):
            worker.wake()

    # For the endpoint

    def find(self, namespace: str, pod: str, container: str, uid: str = "") -> Located | None:
        """The newest one, where another of the same name is still on its way out."""
        worker = None
        for each in self._workers.values():
            metadata = each.pod.metadata
            if (metadata.namespace, metadata.name) == (namespace, pod) and uid in (
                "",
                metadata.uid,
            ):
                worker = each
        if worker is None:
            return None
        attempts = worker.memory.folder.attempts(container) if container in worker.names else []
        begun = [attempt for attempt in attempts if records.has_begun(attempt)]
        return Located(pod=worker.pod, attempts=begun)

    def pods(self) -> Sequence[Pod]:
        return [worker.pod for worker in self._workers.values()]

    def _records(self, uid: str) -> PodRecords:
        return PodRecords(self._parts.settings.pods / uid)

    def _take_on(self, pod: Pod, folder: PodRecords) -> PodWorker:
        worker = PodWorker(pod, self._parts, folder, self._judge)
        self._workers[folder.uid] = worker
        if self._tasks is None:
            raise AssertionError("pods come while `run` does")
        self._tasks.create_task(self._work(folder.uid, worker))
        return worker

    async def _work(self, uid: str, worker: PodWorker) -> None:
        """A bug in one worker is not the end of the others: the pod is taken on anew."""
        try:
            await worker.run()
        except Exception:
            log.exception("worker of a pod failed", pod=worker.pod.metadata.name, uid=uid)
            await self._parts.clock.sleep(_AFTER_BUG_S)
            self._workers.pop(uid, None)
            again = self._take_on(worker.pod, self._records(uid))
            if self._ceiling_s is not None:
                again.go_down(self._ceiling_s)
            return
        self._workers.pop(uid, None)
        if self._is_going_down and not self._workers:
            self._stopped.set()

    def _judge(self, pod: Pod) -> Verdict | None:
        node = self._parts.node()
        if node is None:
            return _NOBODY
        others = [
            worker.pod
            for uid, worker in self._workers.items()
            if uid != pod.metadata.uid and worker.memory.is_known and not worker.is_over
        ]
        wants_ports = bool(demand.host_ports(pod)) and bool(spec_of(pod).host_network)
        place = Place(
            node=node,
            pods=others,
            ports_in_use=self._ports_in_use() if wants_ports else frozenset(),
        )
        return admission.judge(pod, place)

    def _ports_in_use(self) -> frozenset[admission.Port]:
        """Without its network a node starts no pod of it, and that is told then."""
        try:
            return self._parts.standpoint.call(machine.ports_in_use)
        except KubevirtError as error:
            log.warning("ports not looked at", reason=str(error))
            return frozenset()


def _orphan(uid: str, folder: PodRecords) -> Pod:
    """As it was last seen; if that is lost, a pod of which only its containers' folders are known."""
    if found := folder.pod():
        return found
    names = {each.folder.parent.name for each in folder.all_attempts()}
    return msgspec.convert(
        {
            "metadata": {"uid": uid, "name": uid, "namespace": ""},
            "spec": {"containers": [{"name": name, "image": ""} for name in sorted(names)]},
        },
        Pod,
    )
