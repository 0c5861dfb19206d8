"""A home whose process is killed at any moment: its pods are neither lost nor doubled nor forgotten, and the rules of its
network are those that they need.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from tests.component.apiserver.conftest import soak
from tests.component.embedded.process.conftest import LIMIT_S, Virtctl
from tests.component.embedded.process.storm import Storm, led_to, sandboxes, served

from clusterup import waiting
from kubevirt.base.log import get_logger

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
    blowing = asyncio.create_task(storm.blow())
    try:
        for _ in range(KILLS):
            await asyncio.sleep(chance.uniform(0.05, 1.5))
            await asyncio.to_thread(virtctl.kill)
            done = await asyncio.to_thread(virtctl, "up")
            assert done.code == 0, done.err
    finally:
        blowing.cancel()
        await asyncio.gather(blowing, return_exceptions=True)
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
    await waiting.until(led, limit_s=LIMIT_S, what=f"the Service leads to {addresses}; {told}")
    assert (await asyncio.to_thread(virtctl, "down")).code == 0
    assert not sandboxes(virtctl.home.path)


def are_all(virtctl: Virtctl, alive: set[str]) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return await asyncio.to_thread(sandboxes, virtctl.home.path) == alive

    return look


def leads_to(virtctl: Virtctl, addresses: set[str]) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return await asyncio.to_thread(led_to, virtctl.home) == addresses

    return look
