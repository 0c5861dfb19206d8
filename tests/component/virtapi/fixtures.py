"""What tests at a virt-api ask for, wherever they are: each conftest says by `place` where that is, and names these."""

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import Place
from tests.component.virtapi.stand_in_handler import StandInHandler

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.kube.client import Client


def a_place(server: LightCluster | EmbeddedServer) -> Iterator[Place]:
    """For a whole session: to start one takes a while."""
    made = Place(server)
    with session_loop() as loop:
        try:
            loop.run(made.start())
            yield made
        finally:
            loop.run(made.stop())


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    """The administrator's."""
    async with place.client() as made:
        yield made


@pytest.fixture
async def machines(place: Place, client: Client) -> Machines:
    return await Machines.create(place, client)


@pytest.fixture
async def handler(place: Place) -> AsyncIterator[StandInHandler]:
    made = StandInHandler()
    async with made.serving(place.handler_context(), place.handler_port) as serving:
        yield serving
