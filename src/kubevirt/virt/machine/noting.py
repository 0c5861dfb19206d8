"""What must be noted of an instance in its machine's status before it may go.

How an instance ended decides what comes next, and it is all that a controller which was away has to go
by. So an instance keeps its finalizer until the machine tells what follows from its end.
"""

from datetime import datetime
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStateChangeRequest
from kubevirt.virt.errors import SpecError
from kubevirt.virt.instance import phases
from kubevirt.virt.machine import backoff, requests
from kubevirt.virt.machine import strategy as strategies

RERUN: Final = VirtualMachineStateChangeRequest(
    action=requests.START, data={"because": "the guest failed"}
)
"""Nobody's request but the strategy's, and gone with it: a machine that is Halted must not start by it."""


def requests_after(
    vm: VirtualMachine, strategy: str, vmi: VirtualMachineInstance | None
) -> requests.Requests:
    """What is asked for, with the start that the failure of a guest asks for."""
    asked = requests.pending(vm, vmi)
    if strategy != strategies.RERUN_ON_FAILURE:
        return tuple(each for each in asked if each != RERUN)
    has_failed = vmi is not None and vmi.status.phase == phases.FAILED
    return (RERUN,) if has_failed and not asked else asked


def is_noted(vm: VirtualMachine | None, vmi: VirtualMachineInstance, now: datetime) -> bool:
    """Whether the instance may go. `vm` is its owner, by UID; None if that is gone."""
    if vm is None or vm.metadata.deletion_timestamp is not None:
        return True
    try:
        strategy = strategies.of(vm)
    except SpecError:
        return True
    has_counted = backoff.of(vm, strategy, vmi, now) == vm.status.start_failure
    return has_counted and requests_after(vm, strategy, vmi) == requests.pending(vm, vmi)
