"""Background work belongs to somebody: it is awaited, cancelled, and its errors come out."""

import asyncio

import pytest

from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError
from kubevirt.base.tasks import Latch, background, first_of, run

pytestmark = pytest.mark.virtual_time


class BrokenPumpError(Exception):
    pass


async def fails_after(clock: Clock, seconds: float, error: Exception) -> None:
    await clock.sleep(seconds)
    raise error


class Worker:
    """Works until it is cancelled, and remembers that it cleaned up."""

    def __init__(self) -> None:
        self.cleaned_up = False

    async def work(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.cleaned_up = True


async def test_background_work_ends_with_the_body(clock: Clock) -> None:
    worker = Worker()
    async with background(worker.work()):
        await clock.sleep(5)
        assert not worker.cleaned_up
    assert worker.cleaned_up


async def test_background_work_may_end_before_the_body(clock: Clock) -> None:
    async with background(clock.sleep(1)):
        await clock.sleep(5)
    assert clock.monotonic() == pytest.approx(5)


async def test_an_error_in_the_background_ends_the_body_and_comes_out_unwrapped(
    clock: Clock,
) -> None:
    with pytest.raises(BrokenPumpError):
        async with background(fails_after(clock, 1, BrokenPumpError())):
            await clock.sleep(3600)
    assert clock.monotonic() == pytest.approx(1)


async def test_an_error_of_the_body_comes_out_unwrapped_with_its_cause(clock: Clock) -> None:
    worker = Worker()
    cause = ValueError("why")

    async def body() -> None:
        async with background(worker.work()):
            await clock.sleep(1)
            raise BrokenPumpError from cause

    with pytest.raises(BrokenPumpError) as caught:
        await body()
    assert caught.value.__cause__ is cause
    assert worker.cleaned_up


async def test_an_unwrapped_error_keeps_the_context_it_was_raised_in(clock: Clock) -> None:
    async def fails_while_handling() -> None:
        try:
            await fails_after(clock, 1, ValueError("first"))
        except ValueError:
            raise BrokenPumpError  # noqa: B904  # its implicit context is what this test is about

    with pytest.raises(BrokenPumpError) as caught:
        async with background(fails_while_handling()):
            await clock.sleep(3600)
    assert isinstance(caught.value.__context__, ValueError)


async def test_several_errors_come_out_as_a_group(clock: Clock) -> None:
    async def fails_when_cancelled() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("cannot clean up")

    with pytest.raises(ExceptionGroup) as caught:
        async with background(fails_after(clock, 1, BrokenPumpError()), fails_when_cancelled()):
            await clock.sleep(3600)
    assert {type(each) for each in caught.value.exceptions} == {BrokenPumpError, ValueError}


async def test_cancelling_the_body_cancels_the_background_and_stays_a_cancellation(
    clock: Clock,
) -> None:
    worker = Worker()

    async def body() -> None:
        async with background(worker.work()):
            await clock.sleep(3600)

    with pytest.raises(TimeoutError):
        async with clock.timeout(1):
            await body()
    assert worker.cleaned_up


async def test_the_first_to_finish_wins_and_the_others_are_cancelled(clock: Clock) -> None:
    worker = Worker()

    await first_of(worker.work(), clock.sleep(1))
    assert worker.cleaned_up
    assert clock.monotonic() == pytest.approx(1)


async def test_of_two_that_finish_together_the_first_given_wins(clock: Clock) -> None:
    async def answers(word: str) -> str:
        await clock.sleep(1)
        return word

    assert await first_of(answers("left"), answers("right")) == "left"


async def test_an_error_comes_before_any_result(clock: Clock) -> None:
    with pytest.raises(BrokenPumpError):
        await first_of(clock.sleep(2), fails_after(clock, 1, BrokenPumpError()))


async def test_a_latch_lets_everyone_through_once_open_and_stays_open(clock: Clock) -> None:
    latch = Latch()
    open_at_first = latch.is_open
    async with asyncio.TaskGroup() as group:
        waiters = [group.create_task(latch.wait()) for _ in range(3)]
        await clock.sleep(1)
        assert not any(each.done() for each in waiters)
        latch.open()
    assert (open_at_first, latch.is_open) == (False, True)
    await latch.wait()


def test_a_program_ends_with_the_sentence_of_its_error() -> None:
    async def program() -> None:
        raise ConfigError("there is no lamp; buy one")

    with pytest.raises(SystemExit) as ended:
        run(program())
    assert ended.value.code == "there is no lamp; buy one"


def test_a_bug_of_a_program_is_not_hidden() -> None:
    async def program() -> None:
        raise BrokenPumpError

    with pytest.raises(BrokenPumpError):
        run(program())


def test_an_interrupted_program_ends_without_a_word() -> None:
    async def program() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        run(program())
    assert ended.value.code == 130
