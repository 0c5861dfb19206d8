"""What a life costs the API server: how often KubeVirt's programs write, with real nodes and real guests.

The same without virt-handler is `tests/component/controller/test_budget.py`. Events and leases are apart, as is what a
kubelet and a scheduler write: a pod costs that in any case. A state that passes within a second is not told, so on a busy
machine, where steps take longer, more is told, and rightly; the budget is that of a life that goes on quickly, of which a
few tries are enough. A write that the server refuses, because somebody else was quicker, has cost nobody anything.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.e2e.vms.objects import ALPINE, a_vm, a_vmi
from tests.e2e.vms.place import Place

from kubevirt.testing.writes import writes

MOST_OF_AN_INSTANCE = 9
MOST_OF_A_MACHINE = 15
SLOW = 5
"""What is told only because somebody could have read it."""
TRIES = 6
REST_S = 13.0
"""Longer than anything that virt-handler and launchers do again and again."""
PIECES_S = 3.0
"""In which an agent's first answers come."""

INSTANCE = "VirtualMachineInstance"
OK = 400


def written(place: Place) -> Counter[str]:
    found = writes(place.home.path / "audit.log", place.namespace)
    return Counter(each.words for each in found if each.is_of_kubevirt and each.code < OK)


def is_(condition: str) -> Any:
    def holds(found: dict[str, Any]) -> bool:
        conditions = found.get("status", {}).get("conditions", [])
        return any(each["type"] == condition and each["status"] == "True" for each in conditions)

    return holds


def a_vm_without_agent() -> dict[str, Any]:
    """What an agent tells costs two more."""
    vm = a_vm("one", runStrategy="Always")
    volumes = [{"name": "root", "containerDisk": {"image": ALPINE}}]
    vm["spec"]["template"]["spec"]["volumes"] = volumes
    return vm


async def until_guests_are_welcome(place: Place) -> None:
    """A home that has just come up says of the first one that there is no node for it. When that one is gone, nothing is
    written of it any more.
    """
    await place.create(a_vmi("first", startStrategy="Paused"))
    await place.until("first", is_("Paused"), "paused", kind=INSTANCE)
    await place.delete("first", INSTANCE)
    await place.until_gone("first", INSTANCE)


async def test_an_instance_costs_nine_writes_from_its_creation_to_its_end(place: Place) -> None:
    await until_guests_are_welcome(place)
    await cheap_enough(place, _life_of_an_instance, MOST_OF_AN_INSTANCE)


async def _life_of_an_instance(place: Place) -> None:
    await place.create(a_vmi("one", startStrategy="Paused"))
    await place.until("one", is_("Paused"), "paused", kind=INSTANCE)
    await place.delete("one", INSTANCE)
    await place.until_gone("one", INSTANCE)


async def test_a_machine_costs_fifteen_writes_from_its_creation_to_its_end(place: Place) -> None:
    await until_guests_are_welcome(place)
    await cheap_enough(place, _life_of_a_machine, MOST_OF_A_MACHINE)


async def _life_of_a_machine(place: Place) -> None:
    await place.create(a_vm_without_agent())
    await place.until("one", is_("Ready"), "ready")
    await place.delete("one")
    await place.until_gone("one", INSTANCE)
    await place.until_gone("one")


async def cheap_enough(place: Place, life: Callable[[Place], Awaitable[None]], most: int) -> None:
    """One of a few lives costs no more than that, and none much more."""
    lives: list[Counter[str]] = []
    for _ in range(TRIES):
        before = written(place)
        await life(place)
        lives.append(written(place) - before)
        assert lives[-1].total() <= most + SLOW, lives[-1]
        if lives[-1].total() <= most:
            return
    pytest.fail(f"no life was cheap enough: {lives}")


async def test_nothing_is_written_while_a_guest_runs_and_nobody_wants_anything(
    place: Place,
) -> None:
    await place.create(a_vm("one", runStrategy="Always"))
    await place.until("one", is_("AgentConnected"), "connected", kind=INSTANCE)
    await place.until("one", is_("Ready"), "ready")
    await settled(place)
    at_rest = written(place)
    await asyncio.sleep(REST_S)
    assert written(place) == at_rest


async def settled(place: Place) -> None:
    before: Counter[str] | None = None
    while before != (now := written(place)):
        before = now
        await asyncio.sleep(PIECES_S)
