"""Virtual time is exact, ordered and free; a wait that nothing ends is an error with an address."""

import asyncio
import time
from datetime import timedelta

import pytest

from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.virtual_time import EPOCH, StuckError, VirtualClock, run_virtually


def test_a_day_passes_in_no_time() -> None:
    async def main() -> float:
        clock = VirtualClock()
        await clock.sleep(86400)
        return clock.monotonic()

    began = time.monotonic()
    assert run_virtually(main()) == pytest.approx(86400)
    assert time.monotonic() - began < 5


def test_sleepers_wake_in_the_order_of_their_timers() -> None:
    async def main() -> list[float]:
        clock = VirtualClock()
        woken: list[float] = []

        async def sleeper(seconds: float) -> None:
            await clock.sleep(seconds)
            woken.append(clock.monotonic())

        async with asyncio.TaskGroup() as group:
            for seconds in (3.0, 0.5, 100.0, 1.0):
                group.create_task(sleeper(seconds))
        return woken

    assert run_virtually(main()) == pytest.approx([0.5, 1.0, 3.0, 100.0])


def test_a_timeout_comes_at_its_time() -> None:
    async def main() -> float:
        clock = VirtualClock()
        with pytest.raises(TimeoutError):
            async with clock.timeout(7):
                await clock.sleep(3600)
        return clock.monotonic()

    assert run_virtually(main()) == pytest.approx(7)


def test_time_stays_exact_after_years() -> None:
    async def main() -> float:
        clock = VirtualClock()
        await clock.sleep(10 * 365 * 86400)
        began = clock.monotonic()
        for _ in range(1000):
            await clock.sleep(0.001)
        return clock.monotonic() - began

    assert run_virtually(main()) == pytest.approx(1.0, abs=1e-3)


def test_a_wait_that_nothing_can_end_names_the_task_and_the_line() -> None:
    async def deep_inside() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(deep_inside(), name="the-stuck-one")

    with pytest.raises(StuckError, match=r"the-stuck-one waits at .*locks\.py:\d+"):
        run_virtually(main())


def test_the_wall_clock_can_jump_while_monotonic_time_does_not() -> None:
    async def main() -> None:
        clock = VirtualClock()
        assert clock.now() == EPOCH
        await clock.sleep(10)
        clock.jump_wall_clock(-3600)
        assert clock.now() == EPOCH + timedelta(seconds=10 - 3600)
        assert clock.monotonic() == pytest.approx(10)

    run_virtually(main())


async def test_the_system_clock_measures_what_it_sleeps() -> None:
    clock: Clock = SystemClock()
    began, shown = clock.monotonic(), clock.now()
    await clock.sleep(0.02)
    assert clock.monotonic() - began >= 0.019
    assert shown.utcoffset() == timedelta()
    with pytest.raises(TimeoutError):
        async with clock.timeout(0.01):
            await clock.sleep(60)
