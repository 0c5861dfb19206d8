"""A machine for guests that are not treated well. Whatever happens to them, nothing may be left of it."""

import os
from collections.abc import Iterator

import pytest
from tests.component.host.net_world import a_world
from tests.e2e.standalone.driver import Machine, a_home

from guestimage import image


@pytest.fixture
def machine(guest_images: image.Images) -> Iterator[Machine]:
    """Processes, links, rules, mounts, control groups and files are as before when the test is over."""
    if os.geteuid() != 0:
        pytest.skip("needs root: networks and sandboxes are made")
    with a_home() as home, a_world() as world:
        machine = Machine(home, world, guest_images.folder)
        yield machine
        assert not machine.leftovers()
        assert not drafts(machine)


def drafts(machine: Machine) -> list[str]:
    """What an image that was given up leaves in the cache, which itself is there to stay."""
    work = machine.home / "images" / "work"
    return [str(path) for path in work.rglob("*")] if work.exists() else []
