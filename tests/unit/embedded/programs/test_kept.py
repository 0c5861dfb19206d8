"""Programs that are kept alive, each for itself."""

import asyncio

import pytest

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.tasks import background
from kubevirt.embedded.programs.kept import MOST_S, STEADY_S, Kept

pytestmark = pytest.mark.virtual_time


class Program:
    """Fails as often as it is told to, after it was at work for a while."""

    def __init__(self, clock: Clock, *, failures: int = 0, lasts_s: float = 0.0) -> None:
        self.starts: list[float] = []
        self._clock = clock
        self._failures = failures
        self._lasts_s = lasts_s

    async def __call__(self, kept: Kept) -> None:
        self.starts.append(self._clock.monotonic())
        with kept.at_work():
            await self._clock.sleep(self._lasts_s)
            if len(self.starts) <= self._failures:
                raise Retry("the line is cut")
            await asyncio.Event().wait()


def waits(program: Program, lasts_s: float = 0.0) -> list[float]:
    """Between an end and the next start."""
    pairs = zip(program.starts, program.starts[1:], strict=False)
    return [round(later - earlier - lasts_s, 3) for earlier, later in pairs]


async def test_one_that_fails_is_started_again_a_little_later_each_time(clock: Clock) -> None:
    program = Program(clock, failures=8)
    kept = Kept("virt-api", program, clock, lambda: None)
    async with background(kept.run()):
        await clock.sleep(300)
        assert waits(program) == [0.5, 1, 2, 4, 8, 16, MOST_S, MOST_S]
        assert kept.is_at_work
        assert kept.trouble == ""
        assert kept.failures == 8


async def test_one_that_worked_for_long_is_started_again_at_once(clock: Clock) -> None:
    program = Program(clock, failures=3, lasts_s=STEADY_S)
    kept = Kept("virt-api", program, clock, lambda: None)
    async with background(kept.run()):
        await clock.sleep(600)
        assert waits(program, STEADY_S) == [0.5, 0.5, 0.5]


async def test_what_is_wrong_is_said_until_it_is_mended(clock: Clock) -> None:
    heard: list[tuple[bool, str]] = []
    program = Program(clock, failures=1, lasts_s=1)
    kept = Kept("virt-api", program, clock, lambda: heard.append((kept.is_at_work, kept.trouble)))
    async with background(kept.run()):
        await clock.sleep(10)
        assert heard == [(True, ""), (False, ""), (False, "the line is cut"), (True, "")]
    assert len(heard) == 4, "an end that was wanted is no news"


async def test_one_that_can_do_nothing_for_a_while_is_not_at_work(clock: Clock) -> None:
    """As a virt-controller that does not lead any more."""
    heard: list[bool] = []

    async def leads_and_loses(kept: Kept) -> None:
        with kept.at_work():
            await clock.sleep(5)
        await clock.sleep(5)
        with kept.at_work():
            await asyncio.Event().wait()

    kept = Kept("virt-controller", leads_and_loses, clock, lambda: heard.append(kept.is_at_work))
    async with background(kept.run()):
        await clock.sleep(7)
        assert heard == [True, False]
        await clock.sleep(7)
        assert heard == [True, False, True]


async def test_a_program_that_ends_by_itself_has_failed_too(clock: Clock) -> None:
    async def ends(kept: Kept) -> None:
        with kept.at_work():
            await clock.sleep(1)

    kept = Kept("virt-api", ends, clock, lambda: None)
    async with background(kept.run()):
        await clock.sleep(1.2)
        assert kept.trouble == "it ended by itself"
        assert not kept.is_at_work


async def test_one_that_is_ended_stays_so(clock: Clock) -> None:
    program = Program(clock)
    kept = Kept("virt-controller", program, clock, lambda: None)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kept.run())
        await kept.ready.wait()
        await kept.end()
        await clock.sleep(100)
        assert len(program.starts) == 1
        assert not kept.is_at_work


async def test_one_that_fails_while_it_is_told_to_end_is_not_started_again(clock: Clock) -> None:
    starts: list[float] = []

    async def fails_at_the_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await clock.sleep(1)
            raise Retry("the network is gone already")

    async def work(kept: Kept) -> None:
        starts.append(clock.monotonic())
        with kept.at_work():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(fails_at_the_end())

    kept = Kept("virt-handler", work, clock, lambda: None)
    async with asyncio.timeout(100), background(kept.run()):
        await kept.ready.wait()
        await clock.sleep(1)
    assert len(starts) == 1
