"""A machine's state in one word: the first that fits, in KubeVirt's order."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStartFailure
from kubevirt.virt.conditions import FALSE, PAUSED, POD_SCHEDULED, SYNCHRONIZED, found, is_true
from kubevirt.virt.instance import phases
from kubevirt.virt.machine import backoff

GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "starting": frozenset({"Provisioning", "Starting", "WaitingForVolumeBinding"}),
    "running": frozenset({"Running"}),
    "migrating": frozenset({"Migrating"}),
    "non_running": frozenset({"Stopped", "Paused", "Stopping", "Terminating"}),
    "error": frozenset(),
}
"""KubeVirt's, for figures. All other words are trouble."""


def group(word: str) -> str:
    return next((name for name, words in GROUPS.items() if word in words), "error")


def of(
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | None,
    failure: VirtualMachineStartFailure | None,
    now: datetime,
    *,
    has_unbound_claims: bool = False,
) -> str:
    if vm.metadata.deletion_timestamp is not None:
        return "Terminating"
    if vmi is not None and not phases.is_final(vmi):
        return _of_living(vmi, has_unbound_claims=has_unbound_claims)
    if backoff.until(failure, now):
        return "CrashLoopBackOff"
    return "Stopped"


def _of_living(vmi: VirtualMachineInstance, *, has_unbound_claims: bool) -> str:
    if phases.is_ending(vmi):
        return "Stopping"
    if _is_migrating(vmi):
        return "Migrating"
    if is_true(vmi.status.conditions, PAUSED):
        return "Paused"
    if vmi.status.phase == phases.RUNNING:
        return "Running"
    if vmi.status.phase in phases.UNSCHEDULED | {phases.SCHEDULED}:
        return _obstacle(vmi, has_unbound_claims=has_unbound_claims) or "Starting"
    return "WaitingForReceiver" if vmi.status.phase == "WaitingForSync" else "Unknown"


def _is_migrating(vmi: VirtualMachineInstance) -> bool:
    state = vmi.status.migration_state
    return state is not None and state.start_timestamp is not None and not state.completed


def _obstacle(vmi: VirtualMachineInstance, *, has_unbound_claims: bool) -> str | None:
    """What keeps it from starting, if it has a word of its own. Others would be none that KubeVirt's clients know: a
    Secret that is missing, no room for a disk, an image without one are told by condition and event.
    """
    conditions = vmi.status.conditions
    synchronized = found(conditions, SYNCHRONIZED)
    cause = synchronized.reason if synchronized and synchronized.status == FALSE else None
    if cause == "FailedPvcNotFound":
        return "ErrorPvcNotFound"
    scheduled = found(conditions, POD_SCHEDULED)
    if scheduled and scheduled.status == FALSE and scheduled.reason == "Unschedulable":
        return "ErrorUnschedulable"
    if has_unbound_claims:
        return "WaitingForVolumeBinding"
    return cause if cause in {"ErrImagePull", "ImagePullBackOff"} else None
