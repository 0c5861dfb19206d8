"""One home with KubeVirt for the whole run, and a place of its own in it for every test.

A test takes `place`, its own namespace; when it ends, whatever runs there is deleted and the machine is searched for what
it may have left. Whoever does something to the home itself (kills it, fills its disk) takes `own_home`.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.e2e.vms import shared_home
from tests.e2e.vms.place import Place, a_place

from guestimage import image
from kubevirt.testing.home import TrialHome

_LIMIT_S = 600
"""For one test, to end a hang: guests take their time on a machine that is busy."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_LIMIT_S))


@pytest.fixture(scope="session")
def home(home_folder: Path, options: list[str], guest_images: image.Images) -> TrialHome:
    """Everybody's: nobody harms it."""
    if reason := shared_home.why_not():
        pytest.skip(reason)
    return shared_home.of_all_workers(home_folder, options)


@pytest.fixture
def own_home(options: list[str], guest_images: image.Images) -> Iterator[TrialHome]:
    """For one test alone, which may do to it what it likes."""
    if reason := shared_home.why_not():
        pytest.skip(reason)
    with shared_home.of_one_test(*options) as home:
        yield home


@pytest.fixture
async def place(home: TrialHome) -> AsyncIterator[Place]:
    async with home.client() as client:
        place = await a_place(client, home)
        yield place
        await place.leave()


@pytest.fixture
async def own_place(own_home: TrialHome) -> AsyncIterator[Place]:
    """In a home that is this test's alone."""
    async with own_home.client() as client:
        place = await a_place(client, own_home)
        yield place
        await place.leave()
