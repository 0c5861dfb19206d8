from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.embedded.node import world as worlds
from tests.component.embedded.node.world import World


@pytest.fixture
async def world(tmp_path: Path, keeper_program: Path) -> AsyncIterator[World]:
    async with worlds.api_server(tmp_path) as url, worlds.client_of(url, "admin") as client:
        world = World(tmp_path, url, client, keeper_program)
        try:
            yield world
        finally:
            world.kill_all()
        assert worlds.left_over(tmp_path) == []
