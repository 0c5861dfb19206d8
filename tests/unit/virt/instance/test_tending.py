"""What virt-handler does for a guest."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.virt.instance.test_guest import an_instance

from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.api.instance_status import VirtualMachineInstanceCondition
from kubevirt.virt.instance import phases, tending
from kubevirt.virt.instance.domain import DomainSeen
from kubevirt.virt.instance.tending import Action, Step, Tended, decide, settles_in_s

RUNNING = DomainSeen(state="Running")


def step(vmi: Any, **seen: Any) -> Step:
    return decide(vmi, Tended(**seen))


def test_a_scheduled_instance_is_started_once() -> None:
    assert step(an_instance()) == Step(Action.START)
    assert step(an_instance(), domain=RUNNING) == Step(Action.NOTHING)


@pytest.mark.parametrize("phase", [phases.RUNNING, phases.FAILED, phases.SUCCEEDED])
def test_one_that_ran_is_never_started_again(phase: str) -> None:
    assert step(an_instance(phase)) == Step(Action.NOTHING)


def test_one_that_is_deleted_is_not_started() -> None:
    assert step(an_instance(is_ending=True)) == Step(Action.NOTHING)


def test_a_changed_manifest_is_passed_on_to_a_guest_that_runs() -> None:
    assert step(an_instance(phases.RUNNING), domain=RUNNING, is_changed=True).action is (
        Action.ADJUST
    )


def test_a_guest_is_asked_to_end_until_its_grace_is_over() -> None:
    vmi = an_instance(phases.RUNNING, is_ending=True, terminationGracePeriodSeconds=8)
    assert step(vmi, domain=RUNNING) == Step(Action.SHUT_DOWN, 5)
    assert step(vmi, domain=RUNNING, ending_s=2, asked_s=2) == Step(Action.NOTHING, 3)
    assert step(vmi, domain=RUNNING, ending_s=5, asked_s=5) == Step(Action.SHUT_DOWN, 3)
    assert step(vmi, domain=RUNNING, ending_s=8, asked_s=3).action is Action.KILL


def test_without_grace_a_guest_is_ended_at_once() -> None:
    vmi = an_instance(phases.RUNNING, is_ending=True, terminationGracePeriodSeconds=0)
    assert step(vmi, domain=RUNNING).action is Action.KILL


def test_a_launcher_that_was_told_to_end_has_its_guest_shut_down() -> None:
    vmi = an_instance(phases.RUNNING)
    assert step(vmi, domain=RUNNING, is_launcher_ending=True).action is Action.SHUT_DOWN


def test_a_guest_that_was_given_up_may_not_go_on() -> None:
    assert step(an_instance(phases.FAILED), domain=RUNNING).action is Action.KILL


def test_nothing_is_done_for_a_guest_that_has_ended() -> None:
    vmi = an_instance(phases.RUNNING, is_ending=True)
    assert step(vmi, domain=DomainSeen(state="Shutoff")) == Step(Action.NOTHING)


AGENT = VirtualMachineInstanceCondition(type="AgentConnected", status="True")
UNSUPPORTED = VirtualMachineInstanceCondition(type="AgentVersionNotSupported", status="True")
PAUSED = VirtualMachineInstanceCondition(type="Paused", status="True")
LINUX = VirtualMachineInstanceGuestOSInfo(name="Linux")


def test_what_an_agent_tells_is_waited_for_until_it_is_whole() -> None:
    before = an_instance(phases.RUNNING).status
    half = replace(before, conditions=(AGENT,))
    whole = replace(half, guest_os_info=LINUX)
    assert settles_in_s(before, half) == tending.HALF_TOLD_S
    assert settles_in_s(before, whole) == tending.SETTLING_S
    assert settles_in_s(whole, before) == tending.HALF_TOLD_S
    judged = replace(whole, conditions=(AGENT, UNSUPPORTED))
    assert settles_in_s(before, judged) == tending.SETTLING_S
    assert settles_in_s(whole, before, is_ending=True) == tending.GOING_S


def test_all_else_is_told_at_once() -> None:
    before = an_instance(phases.RUNNING).status
    told = replace(before, conditions=(AGENT, PAUSED))
    assert settles_in_s(before, told, is_ending=True) == 0
    assert settles_in_s(before, replace(before, phase=phases.SUCCEEDED)) == 0
