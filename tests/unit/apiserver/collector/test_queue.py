"""The line of keys: one worker for each key, none lost, pauses that grow."""

import asyncio
import itertools

import pytest

from kubevirt.apiserver.collector.queue import LONGEST_PAUSE_S, Queue
from kubevirt.apiserver.refusals import bad_request
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background

pytestmark = pytest.mark.virtual_time


async def test_a_key_is_with_one_worker_and_comes_again_if_it_was_added_meanwhile(
    clock: Clock,
) -> None:
    queue = Queue(clock, "test")
    seen: list[str] = []
    inside = 0

    async def look_at(key: str) -> bool:
        nonlocal inside
        inside += 1
        assert inside == 1
        seen.append(key)
        await clock.sleep(1)
        inside -= 1
        return True

    async with background(queue.run(look_at, workers=4)):
        queue.add("a")
        queue.add("a")
        await clock.sleep(0.5)
        queue.add("a")
        queue.add("a")
        await clock.sleep(10)
    assert seen == ["a", "a"]


async def test_workers_work_side_by_side(clock: Clock) -> None:
    queue = Queue(clock, "test")
    together = asyncio.Barrier(3)

    async def look_at(key: str) -> bool:
        await together.wait()
        return True

    async with background(queue.run(look_at, workers=3)):
        for key in "abc":
            queue.add(key)
        await clock.sleep(1)
    assert together.n_waiting == 0


@pytest.mark.parametrize("error", [None, bad_request("no"), ZeroDivisionError()])
async def test_what_is_not_done_comes_back_later_and_later(
    clock: Clock, error: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")
    queue = Queue(clock, "test")
    times: list[float] = []

    async def look_at(key: str) -> bool:
        times.append(clock.monotonic())
        if error and len(times) < 20:
            raise error
        return len(times) >= 20

    async with background(queue.run(look_at, workers=2)):
        queue.add("a")
        await clock.sleep(3600)
    assert len(times) == 20
    pauses = [later - sooner for sooner, later in itertools.pairwise(times)]
    assert pauses == pytest.approx(sorted(pauses))
    assert pauses[-1] == pytest.approx(LONGEST_PAUSE_S)


async def test_however_often_a_failing_key_is_added_it_comes_back_once(clock: Clock) -> None:
    queue = Queue(clock, "test")
    times: list[float] = []

    async def look_at(key: str) -> bool:
        times.append(clock.monotonic())
        return False

    async with background(queue.run(look_at, workers=2)):
        for _ in range(100):
            queue.add("a")
            await clock.sleep(1)
        known = len(times)
        await clock.sleep(3600)
    assert len(times) - known <= 61
