"""Start, stop, restart: what they change of a machine, by its run strategy and its instance.

    plan = start(vm, vmi, StartOptions())

A pure function that says no by raising a `Refusal`. A plan is carried out in the order of its fields.
"""

from typing import Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStateChangeRequest
from kubevirt.api.requests import RestartOptions, StartOptions, StopOptions
from kubevirt.api.struct import NO_ENTRIES
from kubevirt.virt.commands.refusal import MACHINE, Refusal, bad_request, conflict, internal
from kubevirt.virt.conditions import is_true
from kubevirt.virt.errors import SpecError
from kubevirt.virt.instance import phases
from kubevirt.virt.machine import requests
from kubevirt.virt.machine import strategy as strategies
from kubevirt.virt.machine.requests import Requests

NOT_RUNNING: Final = "VM is not running"
UNDERWAY: Final = "unable to complete request: stop/start already underway"
RECOVERY: Final = "ManualRecoveryRequired"
RECOVERY_TEXT: Final = (
    "VM recovery required: Volume migration failed, leaving some volumes pointing to non-consistent "
    "targets; manual intervention is needed to reassign them to their original volumes."
)
UNCERTAIN: Final = frozenset({None, "", "Unknown"})
FORCED_GRACE_S: Final = 1

Instance = VirtualMachineInstance | None


class PowerPlan(msgspec.Struct, frozen=True, kw_only=True):
    grace_s: int | None = None
    """How long the instance has to shut down from now on."""
    strategy: str | None = None
    """The machine's run strategy from now on."""
    requests: Requests | None = None
    """The machine's stateChangeRequests from now on."""


def start(vm: VirtualMachine, vmi: Instance, options: StartOptions) -> PowerPlan:
    name, strategy = vm.metadata.name, _strategy(vm)
    if vmi is not None and not phases.is_final(vmi) and vmi.status.phase not in UNCERTAIN:
        raise conflict(MACHINE, name, "VM is already running")
    if is_true(vm.status.conditions, RECOVERY):
        raise conflict(MACHINE, name, RECOVERY_TEXT)
    wanted = _started(is_paused=bool(options.paused))
    if strategy == strategies.HALTED:
        if options.paused:
            return PowerPlan(requests=_after_others(vm, vmi, wanted))
        return PowerPlan(strategy=strategies.ALWAYS)
    if strategy in (strategies.ALWAYS, strategies.ONCE):
        raise conflict(MACHINE, name, f"{strategy} does not support manual start requests")
    if vmi is None or not phases.is_final(vmi):
        return PowerPlan(requests=_after_others(vm, vmi, wanted))
    if strategy == strategies.RERUN_ON_FAILURE and vmi.status.phase == phases.FAILED:
        text = f"{strategy} does not support starting VM from failed state"
        raise conflict(MACHINE, name, text)
    return PowerPlan(requests=_after_others(vm, vmi, _stopped(vmi), wanted))


def stop(vm: VirtualMachine, vmi: Instance, options: StopOptions) -> PowerPlan:
    name, strategy, grace_s = vm.metadata.name, _strategy(vm), options.grace_period
    alive = vmi if vmi is not None and not phases.is_final(vmi) else None
    if strategy in (strategies.ALWAYS, strategies.ONCE):
        return PowerPlan(grace_s=grace_s if alive else None, strategy=strategies.HALTED)
    if alive is None:
        raise conflict(MACHINE, name, NOT_RUNNING)
    if strategy == strategies.HALTED and not _is_shorter(alive, grace_s):
        text = f"{strategy} only supports manual stop requests with a shorter graceperiod"
        raise conflict(MACHINE, name, text)
    # Whatever was asked before, it is to stop now.
    return PowerPlan(grace_s=grace_s, requests=(_stopped(alive),))


def restart(vm: VirtualMachine, vmi: Instance, options: RestartOptions) -> PowerPlan:
    name, grace_s = vm.metadata.name, options.grace_period_seconds
    if grace_s is not None and grace_s > 0:
        raise bad_request("For force restart, only gracePeriod=0 is supported for now")
    if grace_s is not None and grace_s < 0:
        raise bad_request("gracePeriod has to be greater or equal to 0")
    strategy = _strategy(vm)
    if strategy in (strategies.HALTED, strategies.ONCE):
        # The misspelling is KubeVirt's own.
        text = f"RunStategy {strategy} does not support manual restart requests"
        raise conflict(MACHINE, name, text)
    if vmi is None:
        raise conflict(MACHINE, name, f"{NOT_RUNNING}: {strategies.HALTED}")
    asked = _after_others(vm, vmi, _stopped(vmi), _started())
    return PowerPlan(grace_s=FORCED_GRACE_S if grace_s == 0 else None, requests=asked)


def _strategy(vm: VirtualMachine) -> str:
    try:
        return strategies.of(vm)
    except SpecError as error:
        raise Refusal(409, str(error), reason="Conflict") from None


def _is_shorter(vmi: VirtualMachineInstance, grace_s: int | None) -> bool:
    own = vmi.spec.termination_grace_period_seconds
    return grace_s is not None and (own is None or grace_s < own)


def _started(*, is_paused: bool = False) -> VirtualMachineStateChangeRequest:
    data = {"paused": "true"} if is_paused else NO_ENTRIES
    return VirtualMachineStateChangeRequest(action=requests.START, data=data)


def _stopped(vmi: VirtualMachineInstance) -> VirtualMachineStateChangeRequest:
    return VirtualMachineStateChangeRequest(action=requests.STOP, uid=vmi.metadata.uid)


def _after_others(
    vm: VirtualMachine, vmi: Instance, *wanted: VirtualMachineStateChangeRequest
) -> Requests:
    """Those that are done are as good as gone; before one that is not, nobody comes."""
    if requests.pending(vm, vmi):
        raise internal(UNDERWAY)
    return wanted
