"""One place for all tests of a session, by the server that asks; each test has a namespace of its own."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import Place
from tests.component.virtapi.stand_in_handler import StandInHandler

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.kube.client import Client

LIMIT_S = 300.0
"""The first test of a place waits until that is there."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of one place stay together where tests are dealt out by groups: to start a place takes a while."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            name = item.callspec.params["place"] if hasattr(item, "callspec") else "none"
            item.add_marker(pytest.mark.xdist_group(f"virtapi-{name}"))
            item.add_marker(pytest.mark.timeout(LIMIT_S))


@pytest.fixture(scope="session", params=["embedded", "kubernetes"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "kubernetes":
        request.getfixturevalue("light_programs")
        made = Place(LightCluster())
    else:
        made = Place(EmbeddedServer())
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
    async with AsyncExitStack() as stack:
        made = StandInHandler()
        context = place.handler_context()
        yield await stack.enter_async_context(made.serving(context, place.handler_port))
