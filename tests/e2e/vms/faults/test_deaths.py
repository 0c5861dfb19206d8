"""`kill -9` of whoever keeps a guest alive, at two moments of its life; `make soak` has ten (`soak.py`)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.e2e.vms import shared_home
from tests.e2e.vms.companions import FATAL, HOME, MONITOR, PROGRAMS, QEMU, SURVIVED
from tests.e2e.vms.faults import perishing
from tests.e2e.vms.faults.life import FEW, KERNEL, WORKS, lived
from tests.e2e.vms.place import Place, a_place

from guestimage import image

pytestmark = [pytest.mark.timeout(1800), pytest.mark.xdist_group("harmed home")]


@pytest.fixture(params=["together", "separate"])
async def harmed_place(
    request: pytest.FixtureRequest, guest_images: image.Images
) -> AsyncIterator[Place]:
    """In a home of its own, whose programs are one process, or one each."""
    if reason := shared_home.why_not():
        pytest.skip(reason)
    options = ["--separate"] if request.param == "separate" else []
    with shared_home.of_one_test(*options) as home:
        async with home.client() as client:
            place = await a_place(client, home)
            yield place
            await place.leave()


async def test_a_guest_outlives_whoever_stands_beside_it(harmed_place: Place) -> None:
    is_separate = "--separate" in harmed_place.home.options
    victims = (HOME, *PROGRAMS) if is_separate else (HOME, *SURVIVED)
    deaths = await lived(harmed_place, victims, FEW)
    assert len(deaths) == len(victims) * len(FEW)


async def test_a_machine_runs_again_when_its_guest_or_its_pod_is_killed(place: Place) -> None:
    await perishing.perished(
        place, [(QEMU, KERNEL), (MONITOR, KERNEL), (QEMU, WORKS), (MONITOR, WORKS)]
    )


async def test_every_strategy_is_followed_when_a_guest_or_its_pod_is_killed(place: Place) -> None:
    """Side by side, since none of them boots."""
    async with asyncio.TaskGroup() as tasks:
        for strategy in ("RerunOnFailure", "Manual", "Once"):
            for victim in FATAL:
                tasks.create_task(perishing.followed(place, strategy, victim))
