"""Phases of an instance: an order, an end, and a record of when each was entered."""

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import (
    VirtualMachineInstancePhaseTransitionTimestamp,
    VirtualMachineInstanceStatus,
)

PENDING: Final = "Pending"
SCHEDULING: Final = "Scheduling"
SCHEDULED: Final = "Scheduled"
RUNNING: Final = "Running"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"

FINAL: Final = frozenset({SUCCEEDED, FAILED})
UNSCHEDULED: Final = frozenset({None, "", PENDING, SCHEDULING})
"""Those in which virt-controller owns the status; from then on it is virt-handler's."""


def is_final(vmi: VirtualMachineInstance) -> bool:
    return vmi.status.phase in FINAL


def is_ending(vmi: VirtualMachineInstance) -> bool:
    return vmi.metadata.deletion_timestamp is not None


def entered(vmi: VirtualMachineInstance, phase: str) -> datetime | None:
    """When it did so last; None if never."""
    times = [
        each.phase_transition_timestamp
        for each in vmi.status.phase_transition_timestamps
        if each.phase == phase
    ]
    return times[-1] if times else None


def has_run(vmi: VirtualMachineInstance) -> bool:
    return vmi.status.phase == RUNNING or entered(vmi, RUNNING) is not None


def ended_at(vmi: VirtualMachineInstance) -> datetime | None:
    return entered(vmi, vmi.status.phase) if vmi.status.phase in FINAL else None


def with_phase(
    status: VirtualMachineInstanceStatus, phase: str, now: datetime
) -> VirtualMachineInstanceStatus:
    if status.phase == phase:
        return status
    transition = VirtualMachineInstancePhaseTransitionTimestamp(
        phase=phase, phase_transition_timestamp=now
    )
    return replace(
        status,
        phase=phase,
        phase_transition_timestamps=(*status.phase_transition_timestamps, transition),
    )
