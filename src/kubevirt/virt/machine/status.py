"""What is told of a machine: words, flags and figures that follow from its instance."""

from datetime import datetime

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStatus
from kubevirt.virt.conditions import READY, SYNCHRONIZED, found, is_true
from kubevirt.virt.happening import Failure
from kubevirt.virt.machine import backoff, conditions, noting, printable, revision
from kubevirt.virt.machine import strategy as strategies
from kubevirt.virt.machine.seen import MachineSeen


def of(
    vm: VirtualMachine,
    strategy: str,
    vmi: VirtualMachineInstance | None,
    seen: MachineSeen,
    failure: Failure | None,
    now: datetime,
) -> VirtualMachineStatus:
    """Flags are told or left out, as in KubeVirt: there is no false."""
    second = now.replace(microsecond=0)  # what is stored has no fractions
    start_failure = backoff.of(vm, strategy, vmi, second)
    if vmi is None and failure is None and backoff.until(start_failure, now):
        failure = _of_last_start(vm)
    return replace(
        vm.status,
        created=True if vmi is not None else None,
        ready=True if vmi is not None and _is_ready(vm, vmi) else None,
        printable_status=printable.of(
            vm, vmi, start_failure, now, has_unbound_claims=seen.has_unbound_claims
        ),
        conditions=conditions.of(vm, vmi, seen, failure, second),
        state_change_requests=noting.requests_after(vm, strategy, vmi),
        start_failure=start_failure,
        observed_generation=_observed(vm, vmi, seen),
        desired_generation=vm.metadata.generation,
        run_strategy=_followed(vm, strategy, vmi),
    )


def _is_ready(vm: VirtualMachine, vmi: VirtualMachineInstance) -> bool:
    return is_true(vmi.status.conditions, READY) and not conditions.is_off(vm, vmi)


def of_refused(vm: VirtualMachine, refusal: Failure, now: datetime) -> VirtualMachineStatus:
    """Of a machine that nothing can be done for; what was told before stays as it was."""
    told = conditions.of(vm, None, MachineSeen(), refusal, now.replace(microsecond=0))
    mine = next(each for each in told if each.type == conditions.FAILURE)
    others = (each for each in vm.status.conditions if each.type != conditions.FAILURE)
    return replace(vm.status, conditions=tuple(sorted((*others, mine), key=lambda each: each.type)))


def _of_last_start(vm: VirtualMachine) -> Failure | None:
    """Why it failed, until the next: the instance that said so is gone."""
    told = vm.status.conditions
    kept = found(told, conditions.FAILURE) or found(told, SYNCHRONIZED)
    if kept is None or kept.reason is None:
        return None
    return Failure(kept.reason, kept.message or "")


def _observed(
    vm: VirtualMachine, vmi: VirtualMachineInstance | None, seen: MachineSeen
) -> int | None:
    """Lags behind only while a guest runs that was made from another template."""
    if vmi is not None and conditions.is_outdated(vm, vmi, seen):
        return revision.generation_of(vmi)
    return vm.metadata.generation


def _followed(vm: VirtualMachine, strategy: str, vmi: VirtualMachineInstance | None) -> str | None:
    """RerunOnFailure starts when it is new; it is no longer once there is an instance."""
    if strategy == strategies.RERUN_ON_FAILURE and vmi is None:
        return vm.status.run_strategy
    return strategy
