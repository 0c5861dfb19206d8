"""A home whose process is killed at any moment: its pods are neither lost nor doubled nor forgotten, and the rules of its
network are those that they need.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from tests.component.apiserver.conftest import soak
from tests.component.embedded.process.conftest import LIMIT_S, Virtctl
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.process.pods import api
from tests.component.embedded.process.storm import Storm, are_loaded, planned, sandboxes, served

from clusterup import waiting
from kubevirt.base.log import get_logger
from kubevirt.embedded.process import settings

KILLS = soak("SOAK_HOME_KILLS", 20)


@pytest.mark.timeout(240 + 20 * KILLS)
async def test_whoever_kills_the_process_at_any_moment_costs_no_pod_anything(
    virtctl: Virtctl,
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    marks = virtctl.folder / "marks"
    marks.mkdir(mode=0o777)
    await asyncio.to_thread(virtctl.up)
    storm = Storm(virtctl.home.kubeconfig, marks, chance)
    await storm.begin()
    blowing = asyncio.create_task(storm.blow())
    try:
        for _ in range(KILLS):
            await asyncio.sleep(chance.uniform(0.05, 1.5))
            await asyncio.to_thread(virtctl.kill)
            done = await asyncio.to_thread(virtctl, "up")
            assert done.code == 0, done.err
    finally:
        blowing.cancel()
        [ended] = await asyncio.gather(blowing, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError), ended
    found = await storm.settle()

    told = f"seed {seed}: {KILLS} kills, {storm.number} pods, {len(found)} left"
    get_logger("storm").info(told)
    assert not list(storm.check(found)), told
    alive = {pod.metadata.uid for pod in found.values() if pod.status.phase == "Running"}
    # A container's end is told by its keeper, which goes a moment later.
    await waiting.until(are_all(virtctl, alive), limit_s=LIMIT_S, what=f"only {alive} run; {told}")
    addresses = served(found)
    assert addresses, told
    led = leads_to(virtctl, addresses)
    await waiting.until(led, limit_s=LIMIT_S, what=f"the rules lead to {addresses}; {told}")
    home_id = virtctl.home.id
    assert (await asyncio.to_thread(virtctl, "down")).code == 0
    assert left_of(virtctl.home.path, home_id) == []


def are_all(virtctl: Virtctl, alive: set[str]) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return await asyncio.to_thread(sandboxes, virtctl.home.path) == alive

    return look


def leads_to(virtctl: Virtctl, addresses: set[str]) -> Callable[[], Awaitable[bool]]:
    """And all rules of the home are those that follow from its Services, and no others."""
    network = settings.network(virtctl.home, virtctl.home.choices)

    async def look() -> bool:
        async with api(virtctl) as client:
            led, plan = await planned(client, network)
        return led == addresses and await asyncio.to_thread(are_loaded, plan)

    return look
