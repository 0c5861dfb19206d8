"""A machine to run guests on, and a server somewhere outside it."""

import os
from collections.abc import Iterator

import pytest
from tests.component.host.net_world import a_world
from tests.e2e.standalone.driver import Machine, a_home

from guestimage import image


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.geteuid() == 0:
        return
    for item in items:
        if "machine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="needs root: networks and sandboxes are made"))


@pytest.fixture
def machine(guest_images: image.Images) -> Iterator[Machine]:
    """Its network is a world of the test's own; nothing is left of any guest when the test is over."""
    with a_home() as home, a_world() as world:
        machine = Machine(home, world, guest_images.folder)
        yield machine
        assert not machine.leftovers()
