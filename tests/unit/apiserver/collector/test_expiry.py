"""Events under virtual time: an hour after they were last written they are gone."""

from collections.abc import AsyncIterator

import pytest
from tests.collecting import HOME, World

from kubevirt.base.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

HOUR_S = 3600
A_MINUTE_LATE_S = HOUR_S + 61


@pytest.fixture
async def world(virtual_clock: VirtualClock) -> AsyncIterator[World]:
    async with World(virtual_clock) as world:
        yield world


async def tell(world: World, name: str) -> None:
    about = {"kind": "ConfigMap", "name": "thing", "namespace": HOME}
    await world.make("events", {"metadata": {"name": name}, "involvedObject": about})


async def test_an_event_goes_after_an_hour(world: World) -> None:
    await tell(world, "first")
    await world.clock.sleep(HOUR_S / 2)
    await tell(world, "second")
    await world.clock.sleep(HOUR_S / 2 - 1)
    assert await world.names("events") == {"first", "second"}
    await world.clock.sleep(62)
    assert await world.names("events") == {"second"}
    await world.clock.sleep(HOUR_S / 2)
    assert await world.names("events") == set()


async def test_an_event_that_is_written_again_has_another_hour(world: World) -> None:
    await tell(world, "told")
    await world.clock.sleep(HOUR_S - 10)
    await world.patch("told", {"annotations": {"again": "yes"}}, "events")
    await world.clock.sleep(HOUR_S - 10)
    assert await world.names("events") == {"told"}
    await world.clock.sleep(80)
    assert await world.names("events") == set()


async def test_a_thousand_events_cost_a_thousand_deletions_and_no_more(world: World) -> None:
    for number in range(1000):
        await tell(world, f"event-{number}")
    before = world.registry.store.revision
    await world.clock.sleep(A_MINUTE_LATE_S)
    assert await world.names("events") == set()
    assert world.registry.store.revision == before + 1000


async def test_events_of_before_the_start_are_as_old_as_they_are(
    virtual_clock: VirtualClock,
) -> None:
    world = World(virtual_clock)
    await world.start()
    await tell(world, "old")
    await world.clock.sleep(HOUR_S / 2)
    await tell(world, "young")
    await world.crash()
    virtual_clock.jump_wall_clock(HOUR_S / 2)  # while it was away
    await world.start()
    await world.clock.sleep(61)
    assert await world.names("events") == {"young"}
    await world.clock.sleep(HOUR_S / 2)
    assert await world.names("events") == set()
    await world.crash()


async def test_a_wall_clock_that_jumps_ends_no_event_early(
    world: World, virtual_clock: VirtualClock
) -> None:
    await tell(world, "told")
    virtual_clock.jump_wall_clock(10 * HOUR_S)
    await world.clock.sleep(HOUR_S / 2)
    assert await world.names("events") == {"told"}
