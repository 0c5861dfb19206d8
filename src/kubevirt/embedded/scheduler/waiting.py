"""Pods that wait for a node: which are to be looked at now, and which were looked at in vain.

A pod that fits nowhere is not looked at again until something has changed that could help it.
"""

from collections.abc import Callable
from typing import Final

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.scheduler.cluster import has_ended
from kubevirt.embedded.scheduler.decide import in_turn
from kubevirt.kube.key import Key

SCHEDULER: Final = "default-scheduler"


def is_ours_to_place(pod: Pod) -> bool:
    """Whoever holds a pod back by a gate, or wants another scheduler for it, is not for us to hurry."""
    spec = spec_of(pod)
    return (
        not spec.node_name
        and not spec.scheduling_gates
        and (spec.scheduler_name or SCHEDULER) == SCHEDULER
        and pod.metadata.deletion_timestamp is None
        and not has_ended(pod)
    )


class Waiting:
    def __init__(self) -> None:
        self._pods: dict[Key, Pod] = {}
        self._due: set[Key] = set()

    def __len__(self) -> int:
        return len(self._pods)

    def put(self, pod: Pod) -> bool:
        """A pod that waits, as it is now. Whether it is worth a look: what it asks for is new."""
        key = Key.of(pod)
        old = self._pods.get(key)
        self._pods[key] = pod
        if old is None or _wish(old) != _wish(pod):
            self._due.add(key)
            return True
        return False

    def drop(self, key: Key) -> None:
        self._pods.pop(key, None)
        self._due.discard(key)

    def wake(self, could_help: Callable[[Pod], bool] = lambda _: True) -> bool:
        """Something changed. Whether anybody is to be looked at for it."""
        woken = {key for key, pod in self._pods.items() if could_help(pod)}
        self._due |= woken
        return bool(woken)

    def again(self, key: Key) -> bool:
        """What was decided for a pod did not come about. Whether it still waits."""
        if key in self._pods:
            self._due.add(key)
        return key in self._pods

    def is_there(self, pod: Pod) -> bool:
        known = self._pods.get(Key.of(pod))
        return known is not None and known.metadata.uid == pod.metadata.uid

    def take_due(self) -> list[Pod]:
        """Who is to be looked at, in turn. Each only once."""
        due, self._due = self._due, set()
        return in_turn([self._pods[key] for key in due])


def _wish(pod: Pod) -> object:
    """All of a pod that bears on where it can run."""
    return pod.metadata.uid, pod.metadata.labels, pod.spec
