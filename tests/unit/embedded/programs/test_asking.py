"""How a program is found to be ready, or to hang."""

import asyncio

import pytest

from kubevirt.api.meta import Status
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, Unreachable
from kubevirt.embedded.programs import asking
from kubevirt.kube.errors import ApiError

pytestmark = pytest.mark.virtual_time

WELL, AWAY, HANGS = b"ok", Unreachable("nobody is there"), None
NOT_READY = ApiError(Status(message="caches: not complete yet", code=500))


class Program:
    """Answers one thing after the other, and the last one for ever."""

    def __init__(self, *answers: bytes | Exception | None) -> None:
        self.asked = 0
        self._answers = answers

    async def raw(self, method: str, path: str, *, accept: str) -> bytes:
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        return answer or b""


async def test_one_that_starts_is_asked_until_it_is_ready(clock: Clock) -> None:
    program = Program(AWAY, HANGS, NOT_READY, WELL)
    await asking.until_ready(program, "127.0.0.1", (), clock)
    assert program.asked == 4


async def test_one_that_hangs_is_given_up_after_a_while(clock: Clock) -> None:
    program = Program(WELL, WELL, HANGS)
    with pytest.raises(Retry, match="has left 6 questions unanswered"):
        await asking.until_silent(program, clock)
    assert program.asked == 2 + asking.PATIENCE


async def test_one_that_answers_at_times_or_knows_that_something_is_wrong_goes_on(
    clock: Clock,
) -> None:
    program = Program(*[HANGS] * 5, NOT_READY, *[AWAY] * 5, WELL, NOT_READY)
    with pytest.raises(TimeoutError):
        async with clock.timeout(3600):
            await asking.until_silent(program, clock)
