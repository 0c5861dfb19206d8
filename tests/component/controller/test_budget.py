"""What a life costs, counted by the server: writes; and by the controllers: looks.

A state that passes within a second is not written. So where a machine is busy and every step takes longer than that,
more is told, and rightly; the budget is that of a life that goes on quickly, of which a few tries are enough.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.component.controller.house import LIMIT_S, House, reconciles

from kubevirt.api.scheme import NODES, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.components.controller.controlling import VirtController
from kubevirt.testing.builders import a_machine, an_instance
from kubevirt.virt.conditions import READY, is_true

TRIES = 6
SLOW = 5
"""Writes that are told only because somebody could have read them: `Starting` before the pod is there, `Running` before it
is ready, `Terminating`, and that an instance is not ready any more, for itself and for its machine."""


@pytest.fixture
async def controller(house: House) -> AsyncIterator[VirtController]:
    async with house.controlled() as controller, house.with_nodes():
        yield controller


async def test_a_life_of_a_machine_costs_at_most_twelve_writes_and_twenty_looks(
    house: House, controller: VirtController
) -> None:
    lives: list[tuple[int, int]] = []
    for number in range(TRIES):
        before, looks = len(house.writes()), sum(reconciles(controller).values())
        await _live(house, f"vm-{number}")
        await house.settle()
        writes = house.writes()[before:]
        assert len(writes) <= 12 + SLOW, writes
        lives.append((len(writes), sum(reconciles(controller).values()) - looks))
        if lives[-1][0] <= 12 and lives[-1][1] <= 20:
            return
    pytest.fail(f"no life was cheap enough; writes and looks: {lives}")


async def _live(house: House, name: str) -> None:
    await house.create(a_machine(name, house.namespace, runStrategy="Always"))
    await house.until_machine(name, lambda vm: bool(vm.status.ready), "is ready")
    await house.delete(VIRTUAL_MACHINES, name)
    await house.until_gone(VIRTUAL_MACHINES, name)
    await asyncio.sleep(2.5)  # looks that were put off until then count too


async def test_a_life_of_an_instance_costs_at_most_six_writes(
    house: House, controller: VirtController
) -> None:
    lives: list[list[str]] = []
    for number in range(TRIES):
        before = len(house.writes())
        name = f"vmi-{number}"
        await house.client.create(VIRTUAL_MACHINE_INSTANCES, an_instance(name, house.namespace))
        await house.until_instance(
            name, lambda vmi: is_true(vmi.status.conditions, READY), "is ready"
        )
        await house.delete(VIRTUAL_MACHINE_INSTANCES, name)
        await house.until_gone(VIRTUAL_MACHINE_INSTANCES, name)
        await house.settle()
        lives.append(house.writes()[before:])
        assert len(lives[-1]) <= 6 + 1, lives  # one more if the end takes long
        if len(lives[-1]) <= 6:
            return
    pytest.fail(f"no life was cheap enough: {lives}")


async def test_a_house_at_rest_is_not_written_to(house: House, controller: VirtController) -> None:
    for number in range(3):
        await house.create(a_machine(f"vm-{number}", house.namespace, runStrategy="Always"))
    for number in range(3):
        await house.until_machine(f"vm-{number}", lambda vm: bool(vm.status.ready), "is ready")
    async with asyncio.timeout(LIMIT_S):  # what is left to say takes longer on a slow machine
        before = None
        while before != (now := (house.writes(), reconciles(controller))):
            before = now
            await asyncio.sleep(5)
            await house.settle()


async def test_the_driver_of_fake_nodes_leaves_no_node_behind(house: House) -> None:
    async with house.with_nodes() as nodes:
        names = nodes.names
    left = {each.metadata.name for each in (await house.client.list(NODES)).items}
    assert not left & set(names)
