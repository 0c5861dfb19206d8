"""What is tried again until it is done, and when it is told that it is not."""

import asyncio

import pytest

from kubevirt.base.errors import Retry
from kubevirt.base.virtual_time import VirtualClock
from kubevirt.embedded.network.duty import LONGEST_PAUSE_S, Duty
from kubevirt.host.net.errors import NetworkFailed

pytestmark = pytest.mark.virtual_time


class Work:
    """Fails so many times; remembers when it was tried, and what was told just before."""

    def __init__(self, duty: Duty, failures: int, clock: VirtualClock) -> None:
        self.tries: list[float] = []
        self.told: list[str] = []
        self._duty = duty
        self._failures = failures
        self._clock = clock

    async def __call__(self) -> None:
        self.tries.append(self._clock.monotonic())
        self.told.append(self._duty.trouble)
        if len(self.tries) <= self._failures:
            raise Retry("it does not work")


async def test_what_fails_once_or_twice_is_done_in_the_end_and_never_told(
    virtual_clock: VirtualClock,
) -> None:
    duty = Duty("the rules")
    work = Work(duty, 2, virtual_clock)
    await duty.do(work, virtual_clock)
    assert work.tries == [0, 0.5, 1.5]
    assert work.told == [""] * 3
    await duty.done()


async def test_what_fails_again_and_again_is_told_for_as_long_as_it_does(
    virtual_clock: VirtualClock,
) -> None:
    duty = Duty("the rules")
    work = Work(duty, 9, virtual_clock)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(duty.do(work, virtual_clock))
        with pytest.raises(NetworkFailed, match=r"^the rules cannot be had: it does not work$"):
            await duty.done()
        assert len(work.tries) == 3
    assert [bool(each) for each in work.told] == [False] * 3 + [True] * 7
    assert work.tries[-1] - work.tries[-2] == LONGEST_PAUSE_S
    assert duty.trouble == ""
    await duty.done()
