"""Nodes whose virt-handler is silent, over hours of virtual time."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kubevirt.api.scheme import NODES
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.nodes import NodeController
from kubevirt.kube.key import Key
from kubevirt.testing.faulty_client import FaultyClient
from kubevirt.testing.faulty_server import FaultyServer

pytestmark = pytest.mark.virtual_time

NODE = Key("", "node01")
MINUTE = 60.0


class World:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.server = FaultyServer(clock)
        self.client = FaultyClient(self.server, clock)

    def beat(self, *, schedulable: str = "true") -> None:
        """As virt-handler does."""
        now = f"{self.clock.now():%Y-%m-%dT%H:%M:%SZ}"
        metadata = {
            "labels": {"kubevirt.io/schedulable": schedulable, "other": "stays"},
            "annotations": {"kubevirt.io/heartbeat": now},
        }
        if NODE in self.server.history.state(NODES):
            self.server.update(NODES, NODE, {"metadata": metadata})
        else:
            self.server.create(NODES, {"metadata": {"name": NODE.name, **metadata}})

    @property
    def labels(self) -> dict[str, Any]:
        found: dict[str, Any] = self.server.history.state(NODES)[NODE]["metadata"]["labels"]
        return found

    def is_open(self) -> bool:
        return bool(self.labels["kubevirt.io/schedulable"] == "true")


@pytest.fixture
async def world(clock: Clock) -> AsyncIterator[World]:
    made = World(clock)
    made.beat()
    caches = Caches.of(made.server, clock)
    client: Any = made.client
    controller = NodeController(client, clock, caches, workers=2, before_each=lambda: None)
    async with background(caches.run(), controller.run()):
        yield made


async def test_a_node_whose_heartbeat_is_five_minutes_old_takes_no_more_guests(
    world: World, clock: Clock
) -> None:
    await clock.sleep(5 * MINUTE - 1)
    assert world.is_open()
    await clock.sleep(2)
    assert world.labels == {"kubevirt.io/schedulable": "false", "other": "stays"}
    await clock.sleep(60 * MINUTE)
    assert world.client.requests == ["patch nodes node01"]


async def test_a_node_that_beats_takes_guests_for_ever(world: World, clock: Clock) -> None:
    for _ in range(60):
        await clock.sleep(MINUTE)
        world.beat()
    assert world.is_open()
    assert world.client.requests == []


async def test_a_handler_that_comes_back_opens_its_node_and_is_believed(
    world: World, clock: Clock
) -> None:
    await clock.sleep(6 * MINUTE)
    assert not world.is_open()
    world.beat()
    await clock.sleep(4 * MINUTE)
    assert world.is_open()
    await clock.sleep(2 * MINUTE)
    assert not world.is_open()


async def test_a_node_that_said_goodbye_is_not_written_to(world: World, clock: Clock) -> None:
    world.beat(schedulable="false")
    await clock.sleep(60 * MINUTE)
    assert world.client.requests == []
