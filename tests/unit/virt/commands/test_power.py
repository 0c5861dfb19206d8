"""Start, stop, restart: what they change, and what they say if they do not."""

from typing import Any

import msgspec
import pytest
from tests.unit.virt.machine.objects import a_machine

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStateChangeRequest
from kubevirt.api.requests import RestartOptions, StartOptions, StopOptions
from kubevirt.virt.commands import power
from kubevirt.virt.commands.power import PowerPlan
from kubevirt.virt.commands.refusal import Refusal
from kubevirt.virt.machine.requests import Requests

START = VirtualMachineStateChangeRequest(action="Start")
STOP = VirtualMachineStateChangeRequest(action="Stop", uid="vmi-1")


def an_instance(phase: str | None = "Running", grace_s: int | None = 30) -> VirtualMachineInstance:
    spec: dict[str, Any] = {"domain": {"devices": {}}}
    if grace_s is not None:
        spec["terminationGracePeriodSeconds"] = grace_s
    raw = {
        "metadata": {"name": "testvm", "namespace": "home", "uid": "vmi-1"},
        "spec": spec,
        "status": {"phase": phase} if phase else {},
    }
    return msgspec.convert(raw, VirtualMachineInstance)


def a_machine_asked(strategy: str, *asked: VirtualMachineStateChangeRequest) -> VirtualMachine:
    vm = a_machine(runStrategy=strategy)
    status = msgspec.structs.replace(vm.status, state_change_requests=asked)
    return msgspec.structs.replace(vm, status=status)


def refusal(call: Any) -> tuple[int, str]:
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value.code, str(caught.value)


def conflict(message: str) -> tuple[int, str]:
    return (
        409,
        f'Operation cannot be fulfilled on virtualmachine.kubevirt.io "testvm": {message}',
    )


# Start


def test_the_start_of_a_halted_machine_changes_its_strategy() -> None:
    plan = power.start(a_machine(runStrategy="Halted"), None, StartOptions())
    assert plan == PowerPlan(strategy="Always")


def test_a_halted_machine_is_started_paused_by_a_request() -> None:
    plan = power.start(a_machine(running=False), None, StartOptions(paused=True))
    wanted = VirtualMachineStateChangeRequest(action="Start", data={"paused": "true"})
    assert plan == PowerPlan(requests=(wanted,))


@pytest.mark.parametrize("strategy", ["Manual", "RerunOnFailure"])
def test_others_are_started_by_a_request(strategy: str) -> None:
    plan = power.start(a_machine(runStrategy=strategy), None, StartOptions())
    assert plan == PowerPlan(requests=(START,))


@pytest.mark.parametrize(
    ("strategy", "phase"),
    [("Manual", "Failed"), ("Manual", "Succeeded"), ("RerunOnFailure", "Succeeded")],
)
def test_an_instance_that_ended_goes_first(strategy: str, phase: str) -> None:
    plan = power.start(a_machine(runStrategy=strategy), an_instance(phase), StartOptions())
    assert plan == PowerPlan(requests=(STOP, START))


@pytest.mark.parametrize("strategy", ["Always", "Once"])
def test_some_strategies_start_by_themselves(strategy: str) -> None:
    vm = a_machine(runStrategy=strategy)
    said = refusal(lambda: power.start(vm, None, StartOptions()))
    assert said == conflict(f"{strategy} does not support manual start requests")


def test_what_runs_is_not_started() -> None:
    vm = a_machine(runStrategy="Manual")
    said = refusal(lambda: power.start(vm, an_instance("Scheduling"), StartOptions()))
    assert said == conflict("VM is already running")


@pytest.mark.parametrize("phase", [None, "Unknown"])
def test_an_instance_of_which_nothing_is_known_does_not_count_as_running(phase: str | None) -> None:
    plan = power.start(a_machine(runStrategy="Halted"), an_instance(phase), StartOptions())
    assert plan == PowerPlan(strategy="Always")


def test_a_failed_guest_is_rerun_without_being_asked() -> None:
    vm = a_machine(runStrategy="RerunOnFailure")
    said = refusal(lambda: power.start(vm, an_instance("Failed"), StartOptions()))
    assert said == conflict("RerunOnFailure does not support starting VM from failed state")


def test_a_start_is_asked_for_once() -> None:
    vm = a_machine_asked("Manual", START)
    said = refusal(lambda: power.start(vm, None, StartOptions()))
    assert said == (500, "unable to complete request: stop/start already underway")


def test_what_was_asked_and_done_is_in_nobodys_way() -> None:
    done: Requests = (VirtualMachineStateChangeRequest(action="Stop", uid="an-older-one"),)
    plan = power.start(a_machine_asked("Manual", *done), None, StartOptions())
    assert plan == PowerPlan(requests=(START,))


# Stop


@pytest.mark.parametrize("strategy", ["Always", "Once"])
def test_to_stop_for_good_is_to_change_the_strategy(strategy: str) -> None:
    plan = power.stop(a_machine(runStrategy=strategy), an_instance(), StopOptions(grace_period=5))
    assert plan == PowerPlan(grace_s=5, strategy="Halted")


def test_a_machine_that_is_to_run_can_be_stopped_before_it_does() -> None:
    plan = power.stop(a_machine(running=True), None, StopOptions(grace_period=5))
    assert plan == PowerPlan(strategy="Halted")


@pytest.mark.parametrize("strategy", ["Manual", "RerunOnFailure"])
def test_a_stop_is_meant_for_one_instance(strategy: str) -> None:
    plan = power.stop(a_machine(runStrategy=strategy), an_instance(), StopOptions())
    assert plan == PowerPlan(requests=(STOP,))


def test_a_stop_comes_before_whatever_was_asked() -> None:
    vm = a_machine_asked("Manual", STOP, START)
    assert power.stop(vm, an_instance(), StopOptions()) == PowerPlan(requests=(STOP,))


@pytest.mark.parametrize("strategy", ["Manual", "RerunOnFailure", "Halted"])
@pytest.mark.parametrize("instance", [None, an_instance("Succeeded")])
def test_what_does_not_run_is_not_stopped(
    strategy: str, instance: VirtualMachineInstance | None
) -> None:
    vm = a_machine(runStrategy=strategy)
    assert refusal(lambda: power.stop(vm, instance, StopOptions())) == conflict("VM is not running")


@pytest.mark.parametrize("grace_s", [None, 30, 60])
def test_a_halted_machine_is_only_hurried(grace_s: int | None) -> None:
    vm = a_machine(runStrategy="Halted")
    said = refusal(lambda: power.stop(vm, an_instance(), StopOptions(grace_period=grace_s)))
    assert said == conflict("Halted only supports manual stop requests with a shorter graceperiod")
    plan = power.stop(vm, an_instance(), StopOptions(grace_period=0))
    assert plan == PowerPlan(grace_s=0, requests=(STOP,))


# Restart


@pytest.mark.parametrize("strategy", ["Always", "Manual", "RerunOnFailure"])
def test_a_restart_is_a_stop_and_a_start(strategy: str) -> None:
    plan = power.restart(a_machine(runStrategy=strategy), an_instance(), RestartOptions())
    assert plan == PowerPlan(requests=(STOP, START))


def test_a_forced_restart_leaves_a_second() -> None:
    options = RestartOptions(grace_period_seconds=0)
    plan = power.restart(a_machine(running=True), an_instance(), options)
    assert plan == PowerPlan(grace_s=1, requests=(STOP, START))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5, "For force restart, only gracePeriod=0 is supported for now"),
        (-1, "gracePeriod has to be greater or equal to 0"),
    ],
)
def test_no_other_time_can_be_given(seconds: int, text: str) -> None:
    options = RestartOptions(grace_period_seconds=seconds)
    assert refusal(lambda: power.restart(a_machine(running=True), None, options)) == (400, text)


@pytest.mark.parametrize("strategy", ["Halted", "Once"])
def test_some_strategies_know_no_restart(strategy: str) -> None:
    vm = a_machine(runStrategy=strategy)
    said = refusal(lambda: power.restart(vm, an_instance(), RestartOptions()))
    assert said == conflict(f"RunStategy {strategy} does not support manual restart requests")


def test_nothing_is_restarted_that_is_not_there() -> None:
    said = refusal(lambda: power.restart(a_machine(running=True), None, RestartOptions()))
    assert said == conflict("VM is not running: Halted")


def test_a_spec_that_means_nothing_is_told_as_such() -> None:
    vm = a_machine(running=True, runStrategy="Always")
    code, text = refusal(lambda: power.start(vm, None, StartOptions()))
    assert (code, "mutually exclusive" in text) == (409, True)
