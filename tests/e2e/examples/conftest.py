"""The machine on which the examples run, and the table of what became of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component.host.net_world import a_world
from tests.e2e.examples import page
from tests.e2e.examples.upstream import Outcome
from tests.e2e.nouns import guests
from tests.e2e.standalone.driver import Machine, a_home

from guestimage import image


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker runs them all: their outcomes are one table."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("examples"))


@pytest.fixture(scope="module")
def machine(guest_images: image.Images) -> Iterator[Machine]:
    if os.geteuid() != 0:
        pytest.skip("needs root: networks and sandboxes are made")
    with a_home() as home, a_world() as world:
        machine = Machine(home, world, guest_images.folder)
        yield machine
        assert not guests.left_of(machine)


@pytest.fixture(scope="module")
def outcomes(pytestconfig: pytest.Config) -> Iterator[dict[str, Outcome]]:
    """Filled by the tests; shown when all have run."""
    found: dict[str, Outcome] = {}
    yield found
    if page.WRITE:
        page.write(page.Way.WITHOUT_A_CLUSTER, found)
    lines = [f"| {name} | {found[name]} |" for name in sorted(found)]
    running = sum(each.runs for each in found.values())
    told = "\n".join([*lines, f"{len(found)} examples, {running} run"])
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    assert capture
    with capture.global_and_fixture_disabled():
        print(f"\n{told}")  # noqa: T201  # the table is what one runs this for
