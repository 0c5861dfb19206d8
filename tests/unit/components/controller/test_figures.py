"""Figures of machines and instances, as a scrape reads them."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.metrics import figures
from kubevirt.components.controller.transitions import Transitions
from kubevirt.kube.histogram import Histogram
from kubevirt.kube.key import Key
from kubevirt.kube.metrics import Family
from kubevirt.testing.faulty_server import FaultyServer
from kubevirt.virt.machine import printable

pytestmark = pytest.mark.virtual_time

TESTVM = Key("home", "testvm")
NAMES = {"name": "testvm", "namespace": "home"}
TEMPLATE: dict[str, Any] = {"spec": {"domain": {"devices": {}}}}


class World:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.server = FaultyServer(clock)
        self.caches = Caches.of(self.server, clock)
        self.transitions = Transitions(self.caches, clock)
        self._conditions: dict[str, dict[str, str]] = {}

    @property
    def now(self) -> str:
        return f"{self.clock.now():%Y-%m-%dT%H:%M:%SZ}"

    async def settle(self) -> None:
        await self.clock.sleep(0.1)

    async def machine(self, word: str, condition: str = "Ready") -> float:
        """It comes to be that, at this moment."""
        self._conditions[condition] = {
            "type": condition,
            "status": "True",
            "lastTransitionTime": self.now,
        }
        conditions = list(self._conditions.values())
        status = {"status": {"printableStatus": word, "conditions": conditions}}
        if TESTVM in self.server.history.state(VIRTUAL_MACHINES):
            self.server.update(VIRTUAL_MACHINES, TESTVM, status)
        else:
            body = {"metadata": NAMES, "spec": {"template": TEMPLATE}, **status}
            self.server.create(VIRTUAL_MACHINES, body)
        moment = datetime.fromisoformat(self.now).timestamp()
        await self.settle()
        return moment

    async def instance(self, phase: str, **status: Any) -> None:
        """It enters a phase."""
        known = self.server.history.state(VIRTUAL_MACHINE_INSTANCES).get(TESTVM)
        entered = list(known["status"]["phaseTransitionTimestamps"]) if known else []
        entered.append({"phase": phase, "phaseTransitionTimestamp": self.now})
        told = {"phase": phase, "phaseTransitionTimestamps": entered, **status}
        if known:
            self.server.update(VIRTUAL_MACHINE_INSTANCES, TESTVM, {"status": told})
        else:
            body = {"metadata": NAMES, "spec": TEMPLATE["spec"], "status": told}
            self.server.create(VIRTUAL_MACHINE_INSTANCES, body)
        await self.settle()

    def of(self, name: str) -> list[tuple[dict[str, str], Any]]:
        families: list[Family] = [
            *figures(self.caches, KubeVirtConfiguration()),
            *self.transitions.figures(),
        ]
        [found] = [each for each in families if each.name == name]
        return [(dict(labels), value) for labels, value in found.series]

    def since(self) -> dict[str, float]:
        """The moment of the one machine, by group."""
        name = "kubevirt_vm_{}_status_last_transition_timestamp_seconds"
        found = {group: self.of(name.format(group)) for group in printable.GROUPS}
        assert all(labels == NAMES for each in found.values() for labels, _ in each)
        return {group: value for group, [(_, value)] in found.items()}


@pytest.fixture
async def world(clock: Clock) -> AsyncIterator[World]:
    made = World(clock)
    async with background(made.caches.run()):
        yield made


async def test_a_machine_is_in_one_group_of_states_since_its_last_change(
    world: World, clock: Clock
) -> None:
    nowhere = dict.fromkeys(printable.GROUPS, 0.0)
    for word, group in (
        ("Stopped", "non_running"),
        ("WaitingForVolumeBinding", "starting"),
        ("Running", "running"),
        ("Paused", "non_running"),
        ("Migrating", "migrating"),
        ("CrashLoopBackOff", "error"),
        ("ErrorUnschedulable", "error"),
    ):
        await clock.sleep(60)
        moment = await world.machine(word)
        assert world.since() == {**nowhere, group: moment}
        [(labels, _)] = world.of("kubevirt_vm_info")
        assert labels == {**NAMES, "status": word.lower(), "status_group": group}


async def test_other_conditions_do_not_change_since_when_a_machine_is_what_it_is(
    world: World, clock: Clock
) -> None:
    await world.machine("Starting")
    await clock.sleep(60)
    began = await world.machine("Running")
    await clock.sleep(60)
    await world.machine("Running", "AgentConnected")
    assert world.since()["running"] == began


async def test_the_way_of_an_instance_through_its_phases_is_timed(
    world: World, clock: Clock
) -> None:
    for phase, seconds in (("Pending", 1), ("Scheduling", 2), ("Running", 30), ("Succeeded", 0)):
        if phase == "Succeeded":
            gone = {"metadata": {"deletionTimestamp": world.now}}
            world.server.update(VIRTUAL_MACHINE_INSTANCES, TESTVM, gone)
            await clock.sleep(4)
        await world.instance(phase)
        await clock.sleep(seconds)

    def seen(name: str) -> dict[tuple[str, ...], float]:
        found: list[tuple[dict[str, str], Histogram]] = world.of(name)
        assert all(times.count == 1 for _, times in found)
        return {tuple(labels.values()): times.total for labels, times in found}

    between = seen("kubevirt_vmi_phase_transition_time_seconds")
    assert between == pytest.approx(
        {("Scheduling", "Pending"): 1, ("Running", "Scheduling"): 2, ("Succeeded", "Running"): 34},
        abs=1.0,
    )
    creation = seen("kubevirt_vmi_phase_transition_time_from_creation_seconds")
    assert creation == pytest.approx(
        {("Scheduling",): 1, ("Running",): 3, ("Succeeded",): 37}, abs=2.0
    )
    deletion = seen("kubevirt_vmi_phase_transition_time_from_deletion_seconds")
    assert deletion == pytest.approx({("Succeeded",): 4}, abs=1.0)


async def test_an_instance_is_found_by_the_address_of_each_card(world: World) -> None:
    cards = [{"name": "default", "ipAddress": "10.0.0.7"}, {"name": "lan"}]
    await world.instance("Running", interfaces=cards, nodeName="node01")
    assert world.of("kubevirt_vmi_status_addresses") == [
        (
            {
                **NAMES,
                "node": "node01",
                "network_name": "default",
                "address": "10.0.0.7",
                "type": "InternalIP",
            },
            1.0,
        )
    ]
