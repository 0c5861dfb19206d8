"""A machine's conditions: its own, and its instance's as in a mirror."""

from datetime import datetime
from typing import Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineCondition
from kubevirt.virt.conditions import FALSE, READY, TRUE, Told, found, with_told
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance import phases
from kubevirt.virt.machine import revision
from kubevirt.virt.machine.seen import MachineSeen

FAILURE: Final = "Failure"
RESTART_REQUIRED: Final = "RestartRequired"
OWN: Final = frozenset({READY, FAILURE, RESTART_REQUIRED, "ManualRecoveryRequired"})


def of(
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | None,
    seen: MachineSeen,
    failure: Failure | None,
    now: datetime,
) -> tuple[VirtualMachineCondition, ...]:
    told: dict[str, Told | None] = {
        FAILURE: Told(TRUE, failure.reason, failure.message) if failure else None,
        RESTART_REQUIRED: _restart(vm, vmi, seen),
    }
    own = tuple(each for each in vm.status.conditions if each.type in OWN)
    for name, each in told.items():
        own = with_told(own, VirtualMachineCondition, name, each, now)
    own = _with_ready(own, vm, vmi, now)
    mirrored = vmi.status.conditions if vmi is not None else ()
    others = tuple(_copied(each) for each in mirrored if each.type not in OWN)
    return tuple(sorted((*own, *others), key=lambda each: each.type))


def is_off(vm: VirtualMachine, vmi: VirtualMachineInstance) -> bool:
    """Whatever the instance's own condition says: that follows its pod, which a node may tell to be well for seconds
    yet. Of a machine that is about to be gone nobody needs to hear it.
    """
    return phases.is_final(vmi) and vm.metadata.deletion_timestamp is None


def _with_ready(
    own: tuple[VirtualMachineCondition, ...],
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | None,
    now: datetime,
) -> tuple[VirtualMachineCondition, ...]:
    if vmi is None:
        told = Told(FALSE, "VMINotExists", "VMI does not exist")
    elif is_off(vm, vmi):
        told = Told(FALSE, "GuestNotRunning", "Guest VM is not reported as running")
    elif (ready := found(vmi.status.conditions, READY)) is None:
        told = Told(FALSE, "VMIConditionMissing", "VMI is missing the Ready condition")
    else:
        return (*(each for each in own if each.type != READY), _copied(ready))
    return with_told(own, VirtualMachineCondition, READY, told, now)


def _copied(condition: msgspec.Struct) -> VirtualMachineCondition:
    return msgspec.convert(condition, VirtualMachineCondition, from_attributes=True)


def is_outdated(vm: VirtualMachine, vmi: VirtualMachineInstance, seen: MachineSeen) -> bool:
    """Whether the guest was made from a template that has been changed since.

    Not every new generation is another template: a strategy is no part of it. If the copy that was
    kept of the old one is gone, nothing is claimed.
    """
    if revision.generation_of(vmi) in {None, vm.metadata.generation}:
        return False
    kept = seen.revisions.get(vmi.status.virtual_machine_revision_name or "")
    return kept is not None and kept.template.spec != vm.spec.template.spec


def _restart(
    vm: VirtualMachine, vmi: VirtualMachineInstance | None, seen: MachineSeen
) -> Told | None:
    if vmi is None or phases.is_final(vmi) or not is_outdated(vm, vmi, seen):
        return None
    text = "a non-live-updatable field was changed in the template spec"
    return Told(TRUE, RESTART_REQUIRED, text)
