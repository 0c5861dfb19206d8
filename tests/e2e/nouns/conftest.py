"""A machine for the guests of each module: booting is dear, so its tests share one guest or a few."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component.host.net_world import a_world
from tests.e2e.nouns import guests
from tests.e2e.standalone.driver import Machine, a_home

from guestimage import image


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Workers that run side by side divide the modules, not their tests: each would boot the guests again."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="module")
def machine(guest_images: image.Images) -> Iterator[Machine]:
    """Nothing is left of any guest when the module is over."""
    if os.geteuid() != 0:
        pytest.skip("needs root: networks and sandboxes are made")
    with a_home() as home, a_world() as world:
        machine = Machine(home, world, guest_images.folder)
        yield machine
        assert not guests.left_of(machine)
