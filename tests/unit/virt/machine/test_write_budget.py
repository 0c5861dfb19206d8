"""What a life costs: writes by virt-controller, and looks at it."""

import pytest
from msgspec.structs import replace
from tests.unit.virt.machine.objects import a_machine
from tests.unit.virt.machine.world import World

from kubevirt.virt.instance import phases
from kubevirt.virt.machine.template import instance_of


def test_a_life_of_a_machine_costs_at_most_twelve_writes() -> None:
    world = World(a_machine(runStrategy="Always"))
    world.live()
    assert (world.word, world.phase) == ("Running", phases.RUNNING)
    world.pass_time(60)
    world.live()
    world.delete_machine()
    world.live()
    assert (world.word, world.phase, world.pods) == ("", "", {})
    assert world.writes == [
        "CreateRevision",
        "CreateInstance",
        "CreatePod",
        "VMI Scheduling",
        "VM status Starting",
        "VMI Scheduled",
        "VMI Running",
        "VM status Running",
        "DeleteInstance",
        "VMI Succeeded",
        "RemoveFinalizer",
    ]


def test_a_gate_in_the_pod_costs_one_write_more() -> None:
    world = World(a_machine(runStrategy="Always"), has_gate=True)
    world.live()
    world.pass_time(60)
    world.delete_machine()
    world.live()
    assert world.writes.count("SetGate") == 1
    assert len(world.writes) <= 12, world.writes


def test_a_slow_end_is_told_and_costs_one_write_more() -> None:
    world = World(a_machine(runStrategy="Always"))
    world.live()
    world.pass_time(60)
    world.delete_machine()
    world.work()
    world.pass_time(2)
    world.work()
    assert world.word == "Terminating"
    world.live()
    assert world.word == ""
    assert len(world.writes) == 12, world.writes


@pytest.mark.parametrize(("has_gate", "limit"), [(False, 5), (True, 6)])
def test_a_life_of_an_instance_costs_at_most_six_writes(limit: int, *, has_gate: bool) -> None:
    world = World(a_machine(), has_gate=has_gate)
    assert world.vm is not None
    vmi = instance_of(world.vm)
    world.vm = None
    world.create_instance(replace(vmi, metadata=replace(vmi.metadata, owner_references=())))
    world.live()
    assert world.phase == phases.RUNNING
    world.pass_time(60)
    world.delete_instance()
    world.live()
    assert (world.phase, world.pods) == ("", {})
    assert len(world.writes) == limit, world.writes


def test_a_life_is_looked_at_no_more_than_twenty_times() -> None:
    """Once for each change that a controller is told of, and once for each time it asks for."""
    world = World(a_machine(runStrategy="Always"))
    for change in (
        world.deliver,  # the machine is there
        world.deliver,  # its instance
        world.deliver,  # its pod
        world.start_pods,
        world.handle,
        world.deliver,  # the instance is ready
        world.delete_machine,
        world.handle,
        world.deliver,  # the instance is gone
    ):
        change()
        world.deliver()
        world.look_at_machine()
        world.deliver()
        world.look_at_instance()
        world.pass_time(0.1)
    assert (world.word, world.phase) == ("", "")
    assert world.reconciles <= 20


def test_a_world_at_rest_is_not_written_to() -> None:
    world = World(a_machine(runStrategy="Always"))
    world.live()
    world.writes.clear()
    for _ in range(10):
        world.pass_time(100)
        world.work()
    assert world.writes == []
