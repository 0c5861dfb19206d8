"""Run strategies: whether a machine's guest is to be started or stopped, by what is there.

|                | no instance                        | instance ended              | instance lives        |
|----------------|------------------------------------|-----------------------------|-----------------------|
| Always         | start                              | remove, then start          | stop if asked to      |
| Halted         | -                                  | remove                      | stop                  |
| Manual         | start if asked to                  | remove if asked to start    | stop if asked to      |
| RerunOnFailure | start if asked to, or never so far | remove; start if it failed  | stop if asked to      |
| Once           | start                              | -                           | -                     |
"""

from enum import Enum
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStateChangeRequest
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.instance import phases
from kubevirt.virt.machine import requests

ALWAYS: Final = "Always"
HALTED: Final = "Halted"
MANUAL: Final = "Manual"
RERUN_ON_FAILURE: Final = "RerunOnFailure"
ONCE: Final = "Once"

BACKING_OFF: Final = frozenset({ALWAYS, RERUN_ON_FAILURE, ONCE})
"""Those that start by themselves, and so must not do it over and over."""
_KNOWN: Final = frozenset({ALWAYS, HALTED, MANUAL, RERUN_ON_FAILURE, ONCE})


class Wish(Enum):
    START = "start"
    STOP = "stop"
    REST = "rest"
    """Leave things as they are."""


def of(vm: VirtualMachine) -> str:
    """The machine's strategy; SpecError if it has none that can be followed."""
    chosen, running = vm.spec.run_strategy, vm.spec.running
    if chosen is not None and running is not None:
        raise SpecError(
            "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, "
            "please use RunStrategy instead"
        )
    if chosen is None:
        return ALWAYS if running else HALTED
    if chosen == "WaitAsReceiver":
        raise UnsupportedError(
            "run strategy WaitAsReceiver is not supported: guests cannot be received from other "
            "clusters; use Halted, and start the machine here"
        )
    if chosen not in _KNOWN:
        raise SpecError(f"Invalid RunStrategy ({shown(chosen)})")
    return chosen


def wish(
    strategy: str,
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | None,
    asked: tuple[VirtualMachineStateChangeRequest, ...],
) -> Wish:
    """`asked` is what `requests.pending` gives. A wish to start while an instance is there never occurs."""
    if vmi is None:
        return Wish.START if _starts(strategy, vm, asked) else Wish.REST
    return Wish.STOP if _stops(strategy, vmi, asked) else Wish.REST


def _starts(
    strategy: str, vm: VirtualMachine, asked: tuple[VirtualMachineStateChangeRequest, ...]
) -> bool:
    if strategy in {ALWAYS, ONCE}:
        return True
    if strategy == MANUAL:
        return requests.is_start(asked)
    if strategy == RERUN_ON_FAILURE:
        return requests.is_start(asked) or vm.status.run_strategy != RERUN_ON_FAILURE
    return False


def _stops(
    strategy: str,
    vmi: VirtualMachineInstance,
    asked: tuple[VirtualMachineStateChangeRequest, ...],
) -> bool:
    if strategy == HALTED:
        return True
    if strategy == ONCE:
        return False
    if phases.is_final(vmi):
        return strategy != MANUAL or bool(asked)
    return requests.is_stop(asked, vmi)
