"""One place for all tests of a session, by the server that asks; each test has a namespace of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component.virtapi.fixtures import a_place, client, handler, machines
from tests.component.virtapi.place import Place

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer

__all__ = ["client", "handler", "machines"]

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
        yield from a_place(LightCluster())
    else:
        yield from a_place(EmbeddedServer())
