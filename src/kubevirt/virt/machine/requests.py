"""Starts and stops that somebody asked for: the machine's stateChangeRequests. Only the first counts."""

from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStateChangeRequest
from kubevirt.virt.instance import phases

START: Final = "Start"
STOP: Final = "Stop"

Requests = tuple[VirtualMachineStateChangeRequest, ...]


def pending(vm: VirtualMachine, vmi: VirtualMachineInstance | None) -> Requests:
    """Those that are not done yet. A stop is done when its instance is gone, a start when one lives."""
    asked = vm.status.state_change_requests
    while asked and _is_done(asked[0], vmi):
        asked = asked[1:]
    return asked


def _is_done(request: VirtualMachineStateChangeRequest, vmi: VirtualMachineInstance | None) -> bool:
    if request.action == STOP:
        return vmi is None or request.uid != vmi.metadata.uid
    if request.action == START:
        return vmi is not None and not phases.is_final(vmi) and not phases.is_ending(vmi)
    return True  # nobody knows what it means, and the next one must not wait for it forever


def is_start(asked: Requests) -> bool:
    return bool(asked) and asked[0].action == START


def is_stop(asked: Requests, vmi: VirtualMachineInstance) -> bool:
    return bool(asked) and asked[0].action == STOP and asked[0].uid == vmi.metadata.uid


def starts_paused(asked: Requests) -> bool:
    return is_start(asked) and asked[0].data.get("paused") == "true"
