"""The handler hears the newest state, in order, however often it is away; the guest never waits for it."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kubevirt.base.clock import Clock
from kubevirt.base.errors import UserError
from kubevirt.base.tasks import background
from kubevirt.components.launcher.notifier import EVENT_LIMIT, Notifier
from kubevirt.rpc import reports
from kubevirt.rpc.errors import NoAnswer

pytestmark = pytest.mark.virtual_time


class Ear:
    """A handler that can be deaf, slow or unwilling."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.is_away = False
        self.refuses = False
        self.is_slow = asyncio.Event()
        self.is_slow.set()
        self.tries = 0

    async def domain_event(self, kind: str, domain: bytes, status: bytes = b"") -> None:
        await self._hear(f"{kind} {reports.decoded(domain).status.status}")

    async def kubernetes_event(self, event: bytes) -> None:
        await self._hear(event.decode())

    async def _hear(self, words: str) -> None:
        self.tries += 1
        await self.is_slow.wait()
        if self.is_away:
            raise NoAnswer("nobody is there")
        if self.refuses:
            raise UserError("no")
        self.heard.append(words)


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest_asyncio.fixture
async def notifier(ear: Ear, clock: Clock) -> AsyncIterator[Notifier]:
    it = Notifier(clock)
    async with background(it.run(ear)):
        yield it


def state(status: str) -> reports.Domain:
    return reports.Domain(status=reports.Status(status=status))


async def test_the_first_report_adds_and_the_others_modify(notifier: Notifier, ear: Ear) -> None:
    for status in ("Running", "Paused"):
        notifier.report(state(status))
        await notifier.told_everything()
    notifier.gone(state("Shutoff"))
    await notifier.told_everything()
    assert ear.heard == ["ADDED Running", "MODIFIED Paused", "DELETED Shutoff"]


async def test_the_same_state_is_told_once(notifier: Notifier, ear: Ear) -> None:
    for _ in range(3):
        notifier.report(state("Running"))
        await notifier.told_everything()
    assert ear.heard == ["ADDED Running"]


async def test_of_the_states_that_wait_only_the_newest_is_sent(
    notifier: Notifier, ear: Ear, clock: Clock
) -> None:
    ear.is_away = True
    for status in ("Paused", "Running", "Paused", "Running"):
        notifier.report(state(status))
        await clock.sleep(1)
    ear.is_away = False
    await notifier.told_everything()
    assert ear.heard == ["ADDED Running"]


async def test_a_state_that_was_overtaken_on_its_way_is_followed_by_the_newer_one(
    notifier: Notifier, ear: Ear, clock: Clock
) -> None:
    ear.is_slow.clear()
    notifier.report(state("Paused"))
    await clock.sleep(0.01)
    notifier.report(state("Running"))
    ear.is_slow.set()
    await notifier.told_everything()
    assert ear.heard == ["ADDED Paused", "MODIFIED Running"]


async def test_an_end_is_told_even_if_the_beginning_never_was(
    notifier: Notifier, ear: Ear, clock: Clock
) -> None:
    ear.is_away = True
    notifier.report(state("Running"))
    await clock.sleep(0.01)
    notifier.report(state("Paused"))
    notifier.gone(state("Shutoff"))
    await clock.sleep(5)
    ear.is_away = False
    await notifier.told_everything()
    assert ear.heard == ["ADDED Paused", "DELETED Shutoff"]


async def test_events_keep_their_place_between_states(notifier: Notifier, ear: Ear) -> None:
    notifier.report(state("Running"))
    notifier.event(b"started")
    await notifier.told_everything()
    notifier.event(b"stopped")
    notifier.gone(state("Shutoff"))
    await notifier.told_everything()
    assert ear.heard == ["ADDED Running", "started", "stopped", "DELETED Shutoff"]


async def test_events_that_nobody_hears_do_not_pile_up(
    notifier: Notifier, ear: Ear, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    ear.is_away = True
    for number in range(3 * EVENT_LIMIT):
        notifier.event(str(number).encode())
    await clock.sleep(60)
    ear.is_away = False
    await notifier.told_everything()
    assert ear.heard[-1] == str(3 * EVENT_LIMIT - 1)
    assert len(ear.heard) <= EVENT_LIMIT + 1


async def test_what_the_handler_refuses_is_not_sent_again(notifier: Notifier, ear: Ear) -> None:
    ear.refuses = True
    notifier.report(state("Running"))
    await notifier.told_everything()
    ear.refuses = False
    notifier.report(state("Paused"))
    await notifier.told_everything()
    assert ear.heard == ["MODIFIED Paused"]
    assert ear.tries == 2


async def test_a_handler_that_is_away_for_an_hour_is_not_asked_without_end(
    notifier: Notifier, ear: Ear, clock: Clock
) -> None:
    ear.is_away = True
    notifier.report(state("Running"))
    await clock.sleep(3600)
    assert 1000 < ear.tries < 2000
    ear.is_away = False
    async with clock.timeout(3):
        await notifier.told_everything()
