"""Run strategies: what a machine does when its guest ends, or somebody asks for something."""

from datetime import timedelta

import msgspec
import pytest
from tests.unit.virt.machine.objects import TEMPLATE, a_machine
from tests.unit.virt.machine.world import World

from kubevirt.api.instance import VirtualMachineInstanceTemplateSpec
from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.conditions import found
from kubevirt.virt.errors import SpecError
from kubevirt.virt.instance import phases
from kubevirt.virt.machine import backoff, strategy
from kubevirt.virt.machine.life import decide
from kubevirt.virt.machine.seen import MachineSeen

CRASH = ("Crashed", "Panicked")
POWER_OFF = ("Shutoff", "Shutdown")
OTHER_TEMPLATE = msgspec.convert(
    {"spec": {**TEMPLATE["spec"], "hostname": "other"}}, VirtualMachineInstanceTemplateSpec
)


def a_world(**spec: object) -> World:
    world = World(a_machine(**spec))
    world.live()
    return world


def end_guest(world: World, how: tuple[str, str]) -> None:
    world.pass_time(60)
    world.guest_ends(*how)
    world.live()


def uid_of(world: World) -> str:
    return world.vmi.metadata.uid if world.vmi else ""


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"running": True}, "Always"),
        ({"running": False}, "Halted"),
        ({}, "Halted"),
        ({"runStrategy": "Once"}, "Once"),
    ],
)
def test_the_old_field_is_a_strategy_too(spec: dict[str, object], expected: str) -> None:
    assert strategy.of(a_machine(**spec)) == expected


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"running": True, "runStrategy": "Always"}, "mutually exclusive"),
        ({"runStrategy": "WaitAsReceiver"}, "not supported"),
        ({"runStrategy": "Sometimes"}, "Invalid RunStrategy"),
    ],
)
def test_what_cannot_be_followed_is_refused_and_told(spec: dict[str, object], words: str) -> None:
    vm = a_machine(**spec)
    with pytest.raises(SpecError, match=words):
        strategy.of(vm)
    plan = decide(vm, MachineSeen(), EPOCH)
    assert plan.actions == ()
    condition = found(plan.status.conditions, "Failure")
    assert condition is not None
    assert words in (condition.message or "")


def test_a_machine_that_cannot_be_followed_can_still_be_deleted() -> None:
    world = a_world(runStrategy="WaitAsReceiver")
    world.delete_machine()
    world.live()
    assert world.vm is None


@pytest.mark.parametrize("how", [CRASH, POWER_OFF])
def test_always_starts_a_guest_again_however_it_ended(how: tuple[str, str]) -> None:
    world = a_world(runStrategy="Always")
    first = uid_of(world)
    end_guest(world, how)
    assert world.phase == phases.RUNNING
    assert uid_of(world) != first


def test_halted_stops_a_guest_and_keeps_it_stopped() -> None:
    world = a_world(runStrategy="Always")
    world.edit(run_strategy="Halted")
    world.live()
    assert (world.word, world.phase) == ("Stopped", "")


def test_a_start_makes_a_halted_machine_one_that_always_runs() -> None:
    world = a_world(runStrategy="Halted")
    world.ask("Start")
    world.live()
    assert world.vm is not None
    assert world.vm.spec.run_strategy == "Always"
    assert world.word == "Running"
    assert world.vm.status.state_change_requests == ()


def test_manual_waits_to_be_asked() -> None:
    world = a_world(runStrategy="Manual")
    assert world.word == "Stopped"
    world.ask("Start")
    world.live()
    assert world.word == "Running"
    world.ask("Stop", uid=uid_of(world))
    world.live()
    assert (world.word, world.phase) == ("Stopped", "")


@pytest.mark.parametrize("how", [CRASH, POWER_OFF])
def test_manual_keeps_an_instance_that_ended_until_the_next_start(how: tuple[str, str]) -> None:
    world = a_world(runStrategy="Manual")
    world.ask("Start")
    world.live()
    first = uid_of(world)
    end_guest(world, how)
    assert world.word == "Stopped"
    assert uid_of(world) == first
    world.ask("Start")
    world.live()
    assert world.word == "Running"
    assert uid_of(world) != first


def test_rerun_on_failure_starts_after_a_crash_only() -> None:
    world = a_world(runStrategy="RerunOnFailure")
    first = uid_of(world)
    assert world.word == "Running"
    end_guest(world, CRASH)
    assert world.word == "Running"
    assert uid_of(world) != first
    end_guest(world, POWER_OFF)
    assert (world.word, world.phase) == ("Stopped", "")
    world.ask("Start")
    world.live()
    assert world.word == "Running"


def test_a_guest_that_is_to_be_rerun_does_not_start_a_machine_halted_meanwhile() -> None:
    world = a_world(runStrategy="RerunOnFailure")
    world.guest_ends(*CRASH)
    world.handle(launcher_ends=False)
    world.work()
    assert world.vm is not None
    assert world.vm.status.state_change_requests
    world.edit(run_strategy="Halted")
    world.pass_time(10)
    world.live()
    assert world.vm.spec.run_strategy == "Halted"
    assert (world.word, world.phase) == ("Stopped", "")


def test_an_instance_that_failed_and_was_deleted_is_not_gone_before_its_machine_has_seen_it() -> (
    None
):
    world = a_world(runStrategy="RerunOnFailure")
    first = uid_of(world)
    world.guest_ends(*CRASH)
    world.handle()
    world.delete_instance()
    for _ in range(3):
        world.deliver()
        world.look_at_instance()
    assert uid_of(world) == first
    world.live()
    assert world.word == "Running"
    assert uid_of(world) != first


@pytest.mark.parametrize("how", [CRASH, POWER_OFF])
def test_once_is_once(how: tuple[str, str]) -> None:
    world = a_world(runStrategy="Once")
    first = uid_of(world)
    end_guest(world, how)
    assert (world.word, uid_of(world)) == ("Stopped", first)


def test_a_restart_is_a_stop_and_a_start() -> None:
    world = a_world(runStrategy="Manual")
    world.ask("Start")
    world.live()
    first = uid_of(world)
    world.ask("Stop", uid=first)
    world.ask("Start")
    world.live()
    assert world.word == "Running"
    assert uid_of(world) != first


def test_a_stop_meant_for_another_instance_is_dropped() -> None:
    world = a_world(runStrategy="Always")
    first = uid_of(world)
    world.ask("Stop", uid="one-that-was")
    world.live()
    assert world.vm is not None
    assert (uid_of(world), world.vm.status.state_change_requests) == (first, ())


def test_a_start_can_ask_for_a_paused_guest() -> None:
    world = a_world(runStrategy="Manual")
    world.ask("Start", paused="true")
    world.work()
    assert world.vmi is not None
    assert world.vmi.spec.start_strategy == "Paused"


def fail_to_start(world: World) -> None:
    world.work()
    for uid in list(world.pods):
        world.end_pod(uid, 1)
    world.work()


def test_starts_that_fail_are_tried_again_after_a_growing_pause() -> None:
    world = World(a_machine(runStrategy="Always"))
    pauses = []
    for count in range(1, 5):
        fail_to_start(world)
        assert world.vm is not None
        failure = world.vm.status.start_failure
        assert failure is not None
        assert failure.consecutive_fail_count == count
        assert world.word == "CrashLoopBackOff"
        assert failure.retry_after_timestamp is not None
        pauses.append((failure.retry_after_timestamp - world.now).total_seconds())
        world.work()
        assert world.vmi is None, "it was started before its time"
        world.now = failure.retry_after_timestamp
    assert pauses == sorted(pauses)
    assert 10 <= pauses[0] <= 15
    world.live()
    assert world.word == "Running"
    assert world.vm is not None
    assert world.vm.status.start_failure is None


@pytest.mark.parametrize("chosen", ["Always", "RerunOnFailure", "Once"])
def test_an_instance_that_is_deleted_before_it_ran_is_replaced_at_once(chosen: str) -> None:
    """It has not failed at anything, so there is no pause."""
    world = World(a_machine(runStrategy=chosen))
    world.work()
    first = uid_of(world)
    world.pass_time(5)
    world.delete_instance()
    world.live()
    assert world.word == "Running"
    assert uid_of(world) != first
    assert world.vm is not None
    assert world.vm.status.start_failure is None


def test_a_pause_is_never_longer_than_five_minutes() -> None:
    assert all(backoff.delay_s(6 + each, f"uid-{each}") == 300 for each in range(50))
    assert len({backoff.delay_s(2, f"uid-{each}") for each in range(50)}) > 5


def test_a_guest_that_ran_is_started_again_at_once() -> None:
    world = a_world(runStrategy="Always")
    before = world.now + timedelta(seconds=60)
    end_guest(world, CRASH)
    assert world.word == "Running"
    assert world.now == before


def test_a_changed_template_asks_for_a_restart_until_it_comes() -> None:
    world = a_world(runStrategy="Always")
    world.edit(template=OTHER_TEMPLATE)
    world.live()
    assert world.vm is not None
    status = world.vm.status
    assert found(status.conditions, "RestartRequired") is not None
    assert (status.observed_generation, status.desired_generation) == (1, 2)
    end_guest(world, POWER_OFF)
    status = world.vm.status
    assert found(status.conditions, "RestartRequired") is None
    assert (status.observed_generation, status.desired_generation) == (2, 2)
    assert list(world.revisions) == ["revision-start-vm-vm-1-2"]


def test_another_strategy_is_no_reason_to_restart() -> None:
    world = a_world(runStrategy="Always")
    world.edit(run_strategy="Manual")
    world.live()
    assert world.vm is not None
    assert found(world.vm.status.conditions, "RestartRequired") is None
    assert world.vm.status.observed_generation == 2
