"""The scheduler: reads, decides, binds, tells.

    async with scheduling(client, clock):
        ...                                 # pods get nodes

Decisions are made one after the other, in order of importance, each against what the one before has left.
Carrying them out needs the server's answer, so that happens beside, many at a time (`binding.py`). A pod
that fits nowhere is told once and waits for a change that could help it.

Not here: preemption (nobody is evicted for the sake of somebody else), and volumes that pods bring along
(`ephemeral`).
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.api.meta import PartialObjectMetadata
from kubevirt.api.scheme import (
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.scheduler import wishes
from kubevirt.embedded.scheduler.binding import Binding, BindingSettings, NoVolumes, Placement
from kubevirt.embedded.scheduler.cluster import has_ended
from kubevirt.embedded.scheduler.decide import Chosen, decide
from kubevirt.embedded.scheduler.ledger import Ledger
from kubevirt.embedded.scheduler.storage import Storage, claim_keys, steps
from kubevirt.embedded.scheduler.waiting import SCHEDULER, Waiting, is_ours_to_place
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, Controller, ControllerSettings, Result
from kubevirt.kube.errors import Conflict
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key

log = get_logger(__name__)

BINDERS: Final = 16
"""Bindings at a time: each waits for the server's disk."""
AT_A_TIME: Final = 16
"""Decisions in a row before others on this loop get their turn."""
_ROUND: Final = "round"
_NOT_ENDED: Final = "status.phase!=Succeeded,status.phase!=Failed"


@asynccontextmanager
async def scheduling(
    client: Client, clock: Clock, settings: BindingSettings | None = None
) -> AsyncIterator["Scheduler"]:
    scheduler = Scheduler(client, clock, settings or BindingSettings())
    async with background(scheduler.run()):
        yield scheduler


class Scheduler:
    def __init__(self, client: Client, clock: Clock, settings: BindingSettings) -> None:
        self._clock = clock
        self._ledger = Ledger()
        self._waiting = Waiting()
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._placements: dict[Key, Placement] = {}
        self._refusals: dict[Key, tuple[Pod, str]] = {}
        """Pods that fit nowhere, and why, until they have been told."""
        self._pods: Informer[Pod] = Informer(
            client,
            PODS,
            clock=clock,
            field_selector=_NOT_ENDED,
            indexes={"claim": lambda pod: tuple("/".join(key) for key in claim_keys(pod))},
        )
        self._nodes: Informer[Node] = Informer(client, NODES, clock=clock)
        self._labels = Informer(client, NAMESPACES.metadata_only, clock=clock)
        self._claims: Informer[PersistentVolumeClaim] = Informer(
            client, PERSISTENT_VOLUME_CLAIMS, clock=clock
        )
        self._volumes: Informer[PersistentVolume] = Informer(
            client, PERSISTENT_VOLUMES, clock=clock
        )
        self._classes: Informer[StorageClass] = Informer(client, STORAGE_CLASSES, clock=clock)
        self._informers: tuple[Informer[Any], ...] = (
            *(self._pods, self._nodes, self._labels),
            *(self._claims, self._volumes, self._classes),
        )
        self._recorder = EventRecorder(client, component=SCHEDULER, clock=clock)
        self._binding = Binding(client, clock, self._recorder, self._stored, settings)
        self._rounds: Controller[str] = Controller(
            "scheduler",
            self._round,
            clock=clock,
            settings=ControllerSettings(workers=1),
            wait_for=self._informers,
        )
        self._deeds: Controller[Key] = Controller(
            "binder",
            self._carry_out,
            clock=clock,
            settings=ControllerSettings(workers=BINDERS),
            wait_for=self._informers,
        )
        self._listen()

    async def run(self) -> None:
        informers = [each.run() for each in self._informers]
        async with background(*informers, self._recorder.run(), self._deeds.run()):
            await self._rounds.run()

    # Deciding

    async def _round(self, _: str) -> Result:
        for number, pod in enumerate(self._waiting.take_due(), start=1):
            try:
                self._place(pod)
            except Exception:  # one pod that cannot be judged does not hold up the others
                log.exception("pod not placed", pod=str(Key.of(pod)))
                self._deeds.queue.retry(Key.of(pod))
            if number % AT_A_TIME == 0:
                await self._clock.sleep(0)
        return DONE

    def _place(self, pod: Pod) -> None:
        key, uid = Key.of(pod), pod.metadata.uid
        if not self._waiting.is_there(pod) or self._ledger.is_assumed(uid):
            return
        stored = self._stored() if claim_keys(pod) else Storage()
        decision = decide(pod, self._ledger.cluster(self._namespaces, stored))
        if isinstance(decision, Chosen):
            node = self._ledger.node(decision.node)
            self._ledger.assume(pod, decision.node)
            self._wake(_counts_others)
            self._refusals.pop(key, None)
            self._placements[key] = Placement(
                pod=pod,
                node=decision.node,
                since=self._clock.monotonic(),
                steps=(steps(pod, node, stored) or ()) if node else (),
            )
        else:
            self._refusals[key] = (pod, decision.message)
        self._deeds.queue.add(key)

    def _stored(self) -> Storage:
        promised: dict[str, str] = {}
        for each in self._placements.values():
            promised |= each.promised
        return Storage(
            claims={Key.of(each): each for each in self._claims},
            volumes={each.metadata.name: each for each in self._volumes},
            classes={each.metadata.name: each for each in self._classes},
            promised=promised,
        )

    # Carrying out

    async def _carry_out(self, key: Key) -> Result:
        if refusal := self._refusals.pop(key, None):
            await self._binding.tell(*refusal)
            return DONE
        placement = self._placements.get(key)
        if placement is None:
            # What was decided could not be done, some time ago.
            self._look_again(self._waiting.again(key))
            return DONE
        try:
            result = await self._binding.carry_out(placement)
        except (Conflict, NoVolumes) as error:
            # It has a node, is going, or its volumes are not to be had: decided anew, a little later.
            log.info("pod not bound", pod=str(key), node=placement.node, reason=str(error))
            if isinstance(error, NoVolumes):
                self._binding.complain(placement, error)
            self._give_up(key, placement)
            raise
        # Whatever else goes wrong, the pod keeps its place: nobody knows whether it was bound.
        if result == DONE and self._placements.get(key) is placement:
            del self._placements[key]
        return result

    def _give_up(self, key: Key, placement: Placement) -> None:
        if self._placements.get(key) is placement:
            del self._placements[key]
        if self._ledger.unassume(placement.pod.metadata.uid):
            self._look_again(self._waiting.wake(lambda pod: Key.of(pod) != key))

    # Hearing of changes

    def _listen(self) -> None:
        self._pods.add_handler(self._on_pod)
        self._nodes.add_handler(self._on_node)
        self._labels.add_handler(self._on_namespace)
        self._claims.add_handler(self._on_claim)
        self._volumes.add_handler(lambda _: self._wake(_has_claims))
        self._classes.add_handler(lambda _: self._wake(_has_claims))

    def _on_pod(self, change: Change[Pod]) -> None:
        pod = change.new
        if pod is None or has_ended(pod):
            self._on_pod_gone(change.object)
        elif node := spec_of(pod).node_name:
            self._waiting.drop(change.key)
            is_new = self._ledger.put(pod, node)
            if not is_new and change.old and _matters(change.old) != _matters(pod):
                self._wake()
            elif is_new or _begins_to_go(change):
                self._wake(_counts_others)
        elif is_ours_to_place(pod):
            self._look_again(self._waiting.put(pod))
        else:
            self._on_pod_gone(pod)

    def _on_pod_gone(self, pod: Pod) -> None:
        key, uid = Key.of(pod), pod.metadata.uid
        self._waiting.drop(key)
        self._refusals.pop(key, None)
        placement = self._placements.get(key)
        if placement and placement.pod.metadata.uid == uid:
            del self._placements[key]
        if self._ledger.drop(uid):
            self._wake()

    def _on_node(self, change: Change[Node]) -> None:
        old, new = change.old, change.new
        if new is None:
            self._ledger.drop_node(change.key.name)
        elif old is None or _offer(old) != _offer(new):
            self._ledger.put_node(new)
        else:
            return  # a heartbeat
        self._wake()

    def _on_namespace(self, change: Change[PartialObjectMetadata]) -> None:
        if change.new is None:
            self._namespaces.pop(change.key.name, None)
            return
        labels = change.new.metadata.labels
        if self._namespaces.get(change.key.name) != labels:
            self._namespaces[change.key.name] = labels
            self._wake(_minds_neighbours)

    def _on_claim(self, change: Change[PersistentVolumeClaim]) -> None:
        for pod in self._pods.by_index("claim", "/".join(change.key)):
            key = Key.of(pod)
            if key in self._placements:
                self._deeds.queue.add(key)
            else:
                self._look_again(self._waiting.again(key))

    def _wake(self, could_help: Callable[[Pod], bool] = lambda _: True) -> None:
        self._look_again(self._waiting.wake(could_help))

    def _look_again(self, is_due: bool) -> None:  # noqa: FBT001  # reads as: look again if due
        if is_due:
            self._rounds.queue.add(_ROUND)


def _offer(node: Node) -> object:
    """All of a node that bears on who can run there."""
    return node.metadata.uid, node.metadata.labels, node.spec, node.status.allocatable


def _matters(pod: Pod) -> object:
    """All of a pod with a node that bears on others."""
    return pod.metadata.labels, pod.spec


def _has_claims(pod: Pod) -> bool:
    return bool(claim_keys(pod))


def _begins_to_go(change: Change[Pod]) -> bool:
    old, new = change.old, change.new
    return bool(
        old and new and not old.metadata.deletion_timestamp and new.metadata.deletion_timestamp
    )


def _counts_others(pod: Pod) -> bool:
    """Whether it may fit because others came somewhere, or are on their way out."""
    return bool(wishes.required_neighbours(pod) or wishes.required_spread(pod))


def _minds_neighbours(pod: Pod) -> bool:
    return bool(wishes.required_neighbours(pod) or wishes.refused_neighbours(pod))
