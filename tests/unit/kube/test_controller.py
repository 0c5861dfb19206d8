"""What a controller does with each way in which a reconcile can end."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from tests.lamps import LAMPS, Lamp, key, lamp, running

from kubevirt.api.meta import Status
from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError, Retry, UserError
from kubevirt.base.tasks import background
from kubevirt.kube.controller import DONE, After, Controller, ControllerSettings, Result
from kubevirt.kube.errors import Forbidden
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.leader import LeadershipLost
from kubevirt.kube.queue import WorkQueue
from kubevirt.kube.triggers import own
from kubevirt.testing.faulty_server import FaultyServer

pytestmark = pytest.mark.virtual_time


@dataclass
class Work:
    """A controller whose reconciles end as the test says, and when each of them began."""

    clock: Clock
    endings: list[Callable[[], Awaitable[Result]]] = field(default_factory=list)
    calls: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue: WorkQueue[str] = WorkQueue("test", self.clock)

    async def reconcile(self, key: str) -> Result:
        self.calls.append((round(self.clock.monotonic(), 3), key))
        return await self.endings.pop(0)() if self.endings else DONE

    def controller(self, **options: Any) -> Controller[str]:
        return Controller("test", self.reconcile, queue=self.queue, clock=self.clock, **options)

    @asynccontextmanager
    async def running(self, *keys: str, **options: Any) -> AsyncIterator[Controller[str]]:
        controller = self.controller(**options)
        async with background(controller.run()):
            for each in keys:
                self.queue.add(each)
            yield controller

    @property
    def times(self) -> list[float]:
        return [time for time, _ in self.calls]


@pytest.fixture
def work(clock: Clock) -> Work:
    return Work(clock)


def returns(result: Result) -> Callable[[], Awaitable[Result]]:
    async def end() -> Result:
        return result

    return end


def raises(error: BaseException) -> Callable[[], Awaitable[Result]]:
    async def end() -> Result:
        raise error

    return end


async def test_a_key_that_is_done_is_left_alone_until_it_is_added_again(
    work: Work, clock: Clock
) -> None:
    async with work.running("a") as controller:
        await clock.sleep(1000)
        work.queue.add("a")
        await clock.sleep(1)
    assert work.calls == [(0, "a"), (1000, "a")]
    assert controller.outcomes == {"done": 2}


async def test_a_key_can_ask_to_be_looked_at_again_later(work: Work, clock: Clock) -> None:
    work.endings = [returns(After(60)), returns(After(5)), returns(DONE)]
    async with work.running("a") as controller:
        await clock.sleep(1000)
    assert work.times == [0, 60, 65]
    assert controller.outcomes == {"after": 2, "done": 1}


async def test_a_retry_waits_longer_each_time_and_starts_anew_after_a_success(
    work: Work, clock: Clock
) -> None:
    retry = raises(Retry("the claim is not bound yet"))
    work.endings = [retry, retry, retry, returns(After(10)), retry]
    async with work.running("a") as controller:
        await clock.sleep(100)
    assert work.times == [0, 0.005, 0.015, 0.035, 10.035, 10.04]
    assert controller.outcomes == {"retry": 4, "after": 1, "done": 1}


async def test_a_retry_that_names_a_time_gets_at_least_that(work: Work, clock: Clock) -> None:
    work.endings = [raises(Retry("the server is busy", after_s=7))]
    async with work.running("a"):
        await clock.sleep(100)
    assert work.times == [0, 7]


async def test_the_user_is_told_of_what_only_the_user_can_mend_and_nothing_is_retried(
    work: Work, clock: Clock
) -> None:
    told: list[tuple[str, str]] = []

    async def tell(key: str, error: UserError) -> None:
        told.append((key, str(error)))

    work.endings = [raises(UserError("no such volume"))]
    async with work.running("a", on_user_error=tell) as controller:
        await clock.sleep(10_000)
    assert told == [("a", "no such volume")]
    assert work.times == [0]
    assert controller.outcomes == {"user_error": 1}


@pytest.mark.parametrize(
    "error", [Forbidden(Status(message="exceeded quota")), ConfigError("a login page answers")]
)
async def test_what_a_server_refuses_is_told_and_tried_again_for_a_quota_may_be_raised(
    work: Work, clock: Clock, error: UserError
) -> None:
    told: list[str] = []

    async def tell(key: str, error: UserError) -> None:
        told.append(str(error))

    work.endings = [raises(error), raises(error)]
    async with work.running("a", on_user_error=tell):
        await clock.sleep(100)
    assert told == [str(error)] * 2
    assert work.times == [0, 0.005, 0.015]


async def test_a_user_error_needs_no_listener(work: Work, clock: Clock) -> None:
    work.endings = [raises(UserError("no such volume"))]
    async with work.running("a"):
        await clock.sleep(10_000)
    assert work.times == [0]


async def test_telling_the_user_is_tried_again_when_the_server_cannot(
    work: Work, clock: Clock
) -> None:
    attempts = 0

    async def tell(key: str, error: UserError) -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise Retry("conflict")
        if attempts == 2:
            raise UserError("the object is gone")

    work.endings = [raises(UserError("no such volume")) for _ in range(2)]
    async with work.running("a", on_user_error=tell):
        await clock.sleep(10_000)
    assert attempts == 2
    assert work.times == [0, 0.005]


async def test_a_bug_is_retried_and_its_stack_trace_logged_once(
    work: Work, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    async def divide() -> Result:
        raise ZeroDivisionError

    work.endings = [divide, divide, divide, returns(After(10)), divide]
    async with work.running("a") as controller:
        await clock.sleep(100)
    traces = [record for record in caplog.records if record.exc_info]
    lines = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(traces) == 2, "once, and once more when it came back after a success"
    assert len(lines) == 4
    assert controller.outcomes["bug"] == 4
    assert work.times == [0, 0.005, 0.015, 0.035, 10.035, 10.04]


async def test_another_bug_of_the_same_key_has_its_own_stack_trace(
    work: Work, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    work.endings = [raises(ZeroDivisionError()), raises(KeyError("x"))]
    async with work.running("a"):
        await clock.sleep(100)
    assert len([record for record in caplog.records if record.exc_info]) == 2


async def test_a_stubborn_key_is_mentioned_once_in_the_log(
    work: Work, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    work.endings = [raises(Retry("the claim is not bound yet")) for _ in range(15)]
    async with work.running("a"):
        await clock.sleep(1000)
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 1


async def test_a_reconcile_that_hangs_is_ended_and_tried_again(work: Work, clock: Clock) -> None:
    async def hang() -> Result:
        await asyncio.Event().wait()
        return DONE

    work.endings = [hang]
    async with work.running("a", settings=ControllerSettings(time_limit_s=30)) as controller:
        await clock.sleep(100)
    assert work.times == [0, 30.005]
    assert controller.outcomes == {"retry": 1, "done": 1}


async def test_a_time_limit_of_its_own_that_a_reconcile_forgot_to_handle_is_a_bug(
    work: Work, clock: Clock
) -> None:
    work.endings = [raises(TimeoutError())]
    async with work.running("a") as controller:
        await clock.sleep(1)
    assert controller.outcomes["bug"] == 1


async def test_something_cancelled_inside_a_reconcile_does_not_end_its_worker(
    work: Work, clock: Clock
) -> None:
    work.endings = [raises(asyncio.CancelledError())]
    async with work.running("a", settings=ControllerSettings(workers=1)) as controller:
        await clock.sleep(1)
    assert work.times == [0, 0.005]
    assert controller.outcomes == {"bug": 1, "done": 1}


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ([UserError("bad"), UserError("worse")], "user_error"),
        ([UserError("bad"), Retry("later"), Retry("much later", after_s=9)], "retry"),
        ([UserError("bad"), Retry("later"), ExceptionGroup("", [KeyError("x")])], "bug"),
    ],
)
async def test_of_several_errors_at_once_the_most_serious_counts(
    work: Work, clock: Clock, errors: list[Exception], outcome: str
) -> None:
    work.endings = [raises(ExceptionGroup("several at once", errors))]
    async with work.running("a") as controller:
        await clock.sleep(100)
    assert controller.outcomes[outcome] == 1
    expected = {"user_error": [0.0], "retry": [0.0, 9.0], "bug": [0.0, 0.005]}
    assert work.times == expected[outcome]


async def test_as_many_keys_run_at_once_as_there_are_workers(work: Work, clock: Clock) -> None:
    async def slow() -> Result:
        await clock.sleep(10)
        return DONE

    work.endings = [slow] * 5
    async with work.running(*"abcde", settings=ControllerSettings(workers=2)):
        await clock.sleep(100)
    assert work.times == [0, 0, 10, 10, 20]


async def test_others_have_their_turn_while_thousands_of_keys_need_nothing(
    work: Work, clock: Clock
) -> None:
    turns = [0]
    async with work.running(*map(str, range(1000))):
        while turns[-1] < 1000:
            await asyncio.sleep(0)
            turns.append(len(work.calls))
    assert max(later - earlier for earlier, later in pairwise(turns)) <= 3, "one per worker"


async def test_stopping_ends_running_reconciles_and_waits_for_their_end(
    work: Work, clock: Clock
) -> None:
    ended: list[float] = []

    async def slow() -> Result:
        try:
            await clock.sleep(1000)
        finally:
            await clock.sleep(5)
            ended.append(clock.monotonic())
        return DONE

    work.endings = [slow]
    async with work.running("a") as controller:
        await clock.sleep(10)
    assert ended == [15]
    assert controller.outcomes == {}
    assert controller.queue.running == 0


async def test_closing_the_queue_lets_waiting_keys_finish(work: Work, clock: Clock) -> None:
    for each in "abc":
        work.queue.add(each)
    work.queue.close()
    await work.controller().run()
    assert [key for _, key in work.calls] == ["a", "b", "c"]


async def test_a_process_that_leads_no_more_ends_before_the_next_key(
    work: Work, clock: Clock
) -> None:
    leads = True

    def assert_leader() -> None:
        if not leads:
            raise LeadershipLost("somebody else leads")

    async def lose() -> None:
        nonlocal leads
        await clock.sleep(1)
        leads = False
        work.queue.add("b")

    work.queue.add("a")
    with pytest.raises(LeadershipLost):
        async with background(lose()):
            await work.controller(before_each=assert_leader).run()
    assert work.calls == [(0, "a")]
    assert work.queue.delayed == 1, "the key is kept for whoever leads next"


@pytest.mark.parametrize(
    "error", [LOST := LeadershipLost("who leads?"), ExceptionGroup("", [KeyError(), LOST])]
)
async def test_losing_leadership_in_the_middle_of_a_reconcile_ends_the_controller(
    work: Work, clock: Clock, error: Exception
) -> None:
    work.endings = [raises(error)]
    work.queue.add("a")
    with pytest.raises(LeadershipLost):
        await work.controller().run()
    assert work.queue.delayed == 1, "the key is kept for whoever leads next"


@pytest.mark.parametrize("reason_to_wait", ["it is read", "it is watched"])
async def test_no_reconcile_before_every_cache_is_complete(
    clock: Clock, reason_to_wait: str
) -> None:
    server = FaultyServer(clock)
    server.create(LAMPS, lamp("desk"))
    server.go_down()
    seen: list[tuple[float, Key, Lamp | None]] = []
    lamps: Informer[Lamp] = Informer(server, LAMPS, clock=clock)
    late: Informer[Lamp] = Informer(server, LAMPS, clock=clock)
    queue: WorkQueue[Key] = WorkQueue("lamps", clock)

    async def reconcile(key: Key) -> Result:
        seen.append((clock.monotonic(), key, lamps.get(key)))
        return DONE

    read = [late] if reason_to_wait == "it is read" else []
    controller = Controller("lamps", reconcile, queue=queue, clock=clock, wait_for=read)
    controller.watch(lamps, own)
    if not read:
        controller.watch(late, own)
    queue.add(key("hall"))
    async with running(lamps), background(controller.run()):
        await clock.sleep(60)
        server.come_back()
        await clock.sleep(60)
        assert lamps.is_synced
        assert seen == [], "one cache is not there yet"
        async with running(late):
            await clock.sleep(1)
            server.create(LAMPS, lamp("attic"))
            await clock.sleep(1)
    assert [(each.name, found is not None) for _, each, found in seen] == [
        ("hall", False),
        ("desk", True),
        ("attic", True),
    ]


async def test_an_update_that_leaves_the_watched_part_as_it_was_triggers_nothing(
    work: Work, clock: Clock
) -> None:
    server = FaultyServer(clock)
    lamps: Informer[Lamp] = Informer(server, LAMPS, clock=clock)
    controller = work.controller()
    controller.watch(lamps, lambda change: [change.key.name], when_changed=lambda lamp: lamp.colour)
    async with running(lamps), background(controller.run()):
        await clock.sleep(10)
        server.create(LAMPS, lamp("desk", "white"))
        await clock.sleep(10)
        server.update(LAMPS, key("desk"), {"metadata": {"labels": {"dusty": "yes"}}})
        await clock.sleep(10)
        server.update(LAMPS, key("desk"), {"colour": "red"})
        await clock.sleep(10)
        server.delete(LAMPS, key("desk"))
        await clock.sleep(10)
    assert work.times == [10, 30, 40]
