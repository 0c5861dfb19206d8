"""The life of an instance as virt-controller leads it: from a wish to a pod, and from a pod to nothing.

    plan = decide(vmi, seen, clock.now())

A pure function that remembers nothing. A plan is carried out in this order: first what it says of the
instance, as one patch (an instance has no status subresource, so labels, finalizers and status are one
write), then its actions. A pod whose creation is expected but not seen yet is no reason to ask again:
who carries a plan out holds back while it waits for one.

Until `Scheduled` the status is virt-controller's. Then it is virt-handler's, and all that is done here
is to follow the pod. An instance whose pod is gone has failed; one whose pod has just ended has not yet:
virt-handler knows how the guest ended, and gets some time to say so. If it was away, the launcher's exit code has to do.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from kubevirt.api.core.pod import Pod
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.virt import nodes, troubles
from kubevirt.virt.conditions import PAUSED, TRUE, is_true
from kubevirt.virt.happening import Happening
from kubevirt.virt.instance import happenings, names, phases, pods, status
from kubevirt.virt.instance.actions import Action, CreatePod, DeletePod, SetGate
from kubevirt.virt.instance.seen import InstanceSeen
from kubevirt.virt.spans import end_of

PATIENCE: Final = timedelta(seconds=5)
"""How long a launcher may take to end after its guest, and virt-handler to say how a guest ended whose
launcher is gone."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    status: VirtualMachineInstanceStatus
    labels: Mapping[str, str]
    finalizers: tuple[str, ...]
    actions: tuple[Action, ...] = ()
    look_again: datetime | None = None
    """When time alone changes something; None if only an event can."""
    happenings: tuple[Happening, ...] = ()
    """What users are told of the change of status."""

    def applied_to(self, vmi: VirtualMachineInstance) -> VirtualMachineInstance:
        """The instance as it should be. If it is that already, there is nothing to write."""
        metadata = replace(vmi.metadata, labels=self.labels, finalizers=self.finalizers)
        return replace(vmi, metadata=metadata, status=self.status)


class _Verdict(msgspec.Struct, frozen=True):
    phase: str
    lost: str = ""
    """Why the launcher is gone, if it is."""
    until: datetime | None = None
    """When the verdict may change without an event."""


def decide(vmi: VirtualMachineInstance, seen: InstanceSeen, now: datetime) -> Plan:
    second = now.replace(microsecond=0)  # what is stored has no fractions
    verdict = _verdict(vmi, seen, now)
    actions = tuple(_actions(vmi, seen, verdict.phase, now))
    told = vmi.status
    if not (CreatePod() in actions and seen.failure is None):
        # Else there is more to say in a moment.
        told = status.of(vmi, seen, verdict.phase, verdict.lost, second)
    labels = dict(vmi.metadata.labels)
    if told.node_name and names.NODE_LABEL not in labels:
        labels[names.NODE_LABEL] = told.node_name
    return Plan(
        status=told,
        labels=labels,
        finalizers=_finalizers(vmi, seen, verdict.phase),
        actions=actions,
        look_again=_look_again(vmi, seen, verdict, now),
        happenings=tuple(_happenings(vmi, told, verdict)),
    )


def _verdict(vmi: VirtualMachineInstance, seen: InstanceSeen, now: datetime) -> _Verdict:
    phase = vmi.status.phase or phases.PENDING
    if phase in phases.FINAL:
        return _Verdict(phase)
    if phase in phases.UNSCHEDULED:
        return _before_hand_over(vmi, seen, phase)
    return _after_hand_over(seen, phase, now)


def _before_hand_over(vmi: VirtualMachineInstance, seen: InstanceSeen, phase: str) -> _Verdict:
    pod, alive = pods.latest(seen.pods), _alive(seen)
    if phases.is_ending(vmi):
        return _Verdict(phase if alive else phases.FAILED)
    if pod is None:
        return _Verdict(phase) if phase == phases.PENDING else _gone()
    if pods.is_finished(pod):
        return _Verdict(phases.FAILED, _sentence(pod))
    if len(alive) == 1 and pods.is_up(pod):
        return _Verdict(phases.SCHEDULED)
    return _Verdict(phases.SCHEDULING)


def _after_hand_over(seen: InstanceSeen, phase: str, now: datetime) -> _Verdict:
    pod = pods.latest(seen.pods)
    if pod is None:
        return _gone()
    if not pods.is_finished(pod):
        return _Verdict(phase)
    if until := end_of(pods.ended_at(pod), PATIENCE, now):
        return _Verdict(phase, until=until)
    if phase == phases.RUNNING and pod.status.phase == "Succeeded":
        return _Verdict(
            phases.SUCCEEDED
        )  # the guest ended in peace: its launcher knows no other peace
    return _Verdict(phases.FAILED, _sentence(pod))


def _gone() -> _Verdict:
    return _Verdict(
        phases.FAILED, "the virt-launcher pod is gone: somebody or something deleted it"
    )


def _sentence(pod: Pod) -> str:
    return f"the virt-launcher pod {pod.metadata.name} ended: {pods.ending(pod)}"


def _alive(seen: InstanceSeen) -> list[Pod]:
    return [each for each in seen.pods if not pods.is_finished(each)]


def _actions(
    vmi: VirtualMachineInstance, seen: InstanceSeen, phase: str, now: datetime
) -> list[Action]:
    pod, alive = pods.latest(seen.pods), _alive(seen)
    is_early = phase in phases.UNSCHEDULED
    if is_early and pod is None and not phases.is_ending(vmi):
        return [] if seen.missing_claims else [CreatePod()]
    if phase in phases.FINAL:
        is_told = phases.is_final(vmi)  # else the end is only now being written
        surplus = alive if is_told and _launcher_ends(vmi, now) is None else []
    elif is_early:
        surplus = alive if phases.is_ending(vmi) else [each for each in alive if each != pod]
    else:
        surplus = []
    deletions: list[Action] = [
        DeletePod(each.metadata.name, each.metadata.uid)
        for each in surplus
        if not pods.is_ending(each)
    ]
    gate = _gate(vmi, pod) if pod and phase == phases.RUNNING else None
    return [*deletions, gate] if gate else deletions


def _launcher_ends(vmi: VirtualMachineInstance, now: datetime) -> datetime | None:
    """Until when a launcher may take to end after its guest; None if it should have by now."""
    return end_of(phases.ended_at(vmi), PATIENCE, now) if phases.has_run(vmi) else None


def _gate(vmi: VirtualMachineInstance, pod: Pod) -> SetGate | None:
    if not pods.has_gate(pod) or pods.is_finished(pod) or pods.is_ending(pod):
        return None
    is_open = not is_true(vmi.status.conditions, PAUSED)
    condition = pods.condition(pod, names.UNPAUSED_GATE)
    if condition is not None and (condition.status == TRUE) == is_open:
        return None
    return SetGate(pod.metadata.name, pod.metadata.uid, is_open)


def _finalizers(vmi: VirtualMachineInstance, seen: InstanceSeen, phase: str) -> tuple[str, ...]:
    """Only once nothing of it runs any more: then another of its name may use its disks.

    A pod that has ended is left to the garbage collector, which deletes it with its owner.
    """
    is_over = phases.is_ending(vmi) and phase in phases.FINAL and not _alive(seen)
    # A machine can note only an end that it can see.
    is_told = phases.is_final(vmi) or names.MACHINE_FINALIZER not in vmi.metadata.finalizers
    if not (is_over and is_told and seen.is_noted):
        return vmi.metadata.finalizers
    ours = {names.FINALIZER, names.MACHINE_FINALIZER}
    return tuple(each for each in vmi.metadata.finalizers if each not in ours)


def _look_again(
    vmi: VirtualMachineInstance, seen: InstanceSeen, verdict: _Verdict, now: datetime
) -> datetime | None:
    waits = [verdict.until, status.settles_at(vmi, verdict.phase, now)]
    if phases.is_final(vmi) and _alive(seen):
        waits.append(_launcher_ends(vmi, now))
    return min((each for each in waits if each), default=None)


def _happenings(
    vmi: VirtualMachineInstance, told: VirtualMachineInstanceStatus, verdict: _Verdict
) -> list[Happening]:
    if told == vmi.status:
        return []
    if verdict.lost and told.phase != vmi.status.phase:
        if told.reason == nodes.UNRESPONSIVE:
            return [happenings.node_unresponsive(told.node_name or "")]
        return [happenings.pod_lost(verdict.lost)]
    if told.phase == phases.SUCCEEDED and vmi.status.phase != phases.SUCCEEDED:
        return [happenings.SHUT_DOWN]
    if told.phase == phases.SCHEDULED and vmi.status.phase in phases.UNSCHEDULED:
        return [happenings.handed_over(told.node_name or "")]
    return list(troubles.between(vmi.status.conditions, told.conditions))
