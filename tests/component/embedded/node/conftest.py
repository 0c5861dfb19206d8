from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.component.embedded.node import world as worlds
from tests.component.embedded.node.world import World

from clusterup import ports


@pytest.fixture
def a_port() -> Iterator[int]:
    """On the loopback address, nobody else's for as long as the test runs."""
    port = ports.take()
    yield port.number
    port.release()


@pytest.fixture
async def world(tmp_path: Path, keeper_program: Path) -> AsyncIterator[World]:
    async with worlds.api_server(tmp_path) as url, worlds.client_of(url, "admin") as client:
        world = World(tmp_path, url, client, keeper_program)
        try:
            yield world
        finally:
            world.kill_all()
        assert worlds.left_over(tmp_path) == []
