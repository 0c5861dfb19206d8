"""What the work queue promises, one promise each; random histories are in tests/property."""

import asyncio

import pytest

from kubevirt.base.clock import Clock
from kubevirt.kube.queue import QueueClosed, WorkQueue

pytestmark = pytest.mark.virtual_time

Queue = WorkQueue[str]


@pytest.fixture
def queue(clock: Clock) -> Queue:
    return WorkQueue("test", clock)


async def take(queue: Queue, *, within_s: float = 0.0) -> str | None:
    """The next key, or None if there is none in time."""
    try:
        async with asyncio.timeout(within_s):
            return await queue.get()
    except TimeoutError:
        return None


async def test_keys_come_out_in_the_order_they_went_in(queue: Queue) -> None:
    for key in "cab":
        queue.add(key)
    assert [await queue.get() for _ in range(3)] == ["c", "a", "b"]


async def test_a_key_added_twice_while_it_waits_is_one_key(queue: Queue) -> None:
    queue.add("a")
    queue.add("a")
    assert queue.depth == 1
    assert await queue.get() == "a"
    assert await take(queue) is None


async def test_a_key_added_while_running_runs_once_more(queue: Queue) -> None:
    queue.add("a")
    await queue.get()
    for _ in range(5):
        queue.add("a")
    assert await take(queue) is None, "two workers would have it"
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    assert await take(queue) is None


async def test_a_busy_key_goes_behind_those_that_waited(queue: Queue) -> None:
    queue.add("busy")
    await queue.get()
    queue.add("busy")
    queue.add("patient")
    queue.done("busy")
    assert [await queue.get(), await queue.get()] == ["patient", "busy"]


async def test_a_key_in_its_delay_when_another_is_added_keeps_its_place(
    queue: Queue, clock: Clock
) -> None:
    queue.add_after("first", 1)
    await clock.sleep(2)
    queue.add("second")
    assert [await queue.get(), await queue.get()] == ["first", "second"]


async def test_a_waiting_worker_gets_a_key_the_moment_it_is_added(
    queue: Queue, clock: Clock
) -> None:
    async with asyncio.TaskGroup() as group:
        worker = group.create_task(queue.get())
        await clock.sleep(5)
        queue.add("a")
    assert worker.result() == "a"
    assert clock.monotonic() == 5


async def test_a_delayed_key_comes_when_its_time_has_come(queue: Queue, clock: Clock) -> None:
    queue.add_after("a", 30)
    assert (queue.depth, queue.delayed) == (0, 1)
    assert await take(queue, within_s=29.9) is None
    assert await queue.get() == "a"
    assert clock.monotonic() == pytest.approx(30)


@pytest.mark.parametrize("delays", [(10, 60), (60, 10)])
async def test_of_two_delays_of_a_key_the_earlier_counts(
    queue: Queue, clock: Clock, delays: tuple[float, float]
) -> None:
    for delay in delays:
        queue.add_after("a", delay)
    assert queue.delayed == 1
    assert await queue.get() == "a"
    assert clock.monotonic() == pytest.approx(10)
    queue.done("a")
    assert await take(queue, within_s=100) is None


async def test_a_worker_that_waits_for_a_late_key_notices_an_earlier_one(
    queue: Queue, clock: Clock
) -> None:
    queue.add_after("late", 100)
    async with asyncio.TaskGroup() as group:
        worker = group.create_task(queue.get())
        await clock.sleep(1)
        queue.add_after("early", 10)
    assert worker.result() == "early"
    assert clock.monotonic() == pytest.approx(11)


async def test_delays_are_kept_while_the_worker_that_watched_them_works(
    queue: Queue, clock: Clock
) -> None:
    async with asyncio.TaskGroup() as group:
        first = group.create_task(queue.get())
        await clock.sleep(0)
        queue.add_after("later", 10)
        await clock.sleep(0)  # the first worker watches the clock from here on
        second = group.create_task(queue.get())
        await clock.sleep(0)
        queue.add("now")
    assert (first.result(), second.result()) == ("now", "later")
    assert clock.monotonic() == pytest.approx(10)


async def test_a_delay_of_nothing_is_an_add(queue: Queue) -> None:
    queue.add_after("a", 0)
    queue.add_after("b", -1)
    assert [await queue.get(), await queue.get()] == ["a", "b"]


async def test_a_delay_that_passes_while_the_key_runs_runs_it_once_more(
    queue: Queue, clock: Clock
) -> None:
    queue.add("a")
    await queue.get()
    queue.add_after("a", 1)
    await clock.sleep(2)
    queue.add_after("a", 10)  # a new delay: the old one has passed and must not swallow it
    queue.done("a")
    assert await take(queue) == "a"
    queue.done("a")
    assert await take(queue, within_s=20) == "a"
    assert clock.monotonic() == pytest.approx(12)


async def test_many_moved_delays_leave_nothing_behind(queue: Queue) -> None:
    for seconds in range(10_000, 0, -1):
        queue.add_after("a", seconds)
    assert queue.delayed == 1
    assert len(queue._delays._heap) < 100
    assert await queue.get() == "a"
    assert await take(queue, within_s=20_000) is None


async def test_retries_of_a_key_come_later_and_later_until_it_is_forgotten(
    queue: Queue, clock: Clock
) -> None:
    async def wait_of_next_retry() -> float:
        start = clock.monotonic()
        queue.retry("a")
        queue.done(await queue.get())
        return round(clock.monotonic() - start, 6)

    assert [await wait_of_next_retry() for _ in range(3)] == [0.005, 0.01, 0.02]
    assert queue.failures("a") == 3
    queue.forget("a")
    assert await wait_of_next_retry() == 0.005
    assert queue.retries == 4


async def test_a_retry_waits_at_least_as_long_as_the_server_asked(
    queue: Queue, clock: Clock
) -> None:
    queue.retry("a", at_least_s=7)
    await queue.get()
    assert clock.monotonic() == pytest.approx(7)


async def test_giving_back_a_key_one_does_not_have_is_a_bug(queue: Queue) -> None:
    with pytest.raises(KeyError):
        queue.done("a")


async def test_a_closed_queue_hands_out_what_waits_and_takes_nothing_new(queue: Queue) -> None:
    queue.add("running")
    await queue.get()
    queue.add("running")
    queue.add("waiting")
    queue.add_after("delayed", 1)
    queue.close()
    queue.add("new")
    queue.add_after("new", 1)
    queue.retry("new")

    async with asyncio.TaskGroup() as group:
        drained = group.create_task(queue.drained())
        assert await queue.get() == "waiting"
        queue.done("running")
        assert await queue.get() == "running", "it was asked for before the end"
        queue.done("waiting")
        idle_worker = group.create_task(_ends(queue))
        await asyncio.sleep(0)
        assert not drained.done()
        assert not idle_worker.done(), "a running key might come again"
        queue.done("running")
    await queue.drained()
    with pytest.raises(QueueClosed):
        await queue.get()


async def _ends(queue: Queue) -> None:
    with pytest.raises(QueueClosed):
        await queue.get()


async def test_a_queue_closed_in_a_hurry_drops_what_waits(queue: Queue) -> None:
    queue.add("running")
    await queue.get()
    queue.add("running")
    queue.add("waiting")
    queue.close(drop=True)
    assert queue.depth == 0
    queue.done("running")
    await queue.drained()
    with pytest.raises(QueueClosed):
        await queue.get()


async def test_closing_sends_idle_workers_home(queue: Queue, clock: Clock) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(_ends(queue))
        await clock.sleep(1)
        queue.close()


async def test_the_queue_can_be_measured_from_outside(queue: Queue, clock: Clock) -> None:
    queue.add("a")
    queue.add("b")
    queue.add_after("c", 100)
    await clock.sleep(2)
    assert (queue.depth, queue.oldest_waiting_s) == (2, 2)
    await queue.get()
    await clock.sleep(3)
    await queue.get()
    await clock.sleep(1)
    assert (queue.depth, queue.running, queue.oldest_waiting_s) == (0, 2, 0)
    assert (queue.unfinished_s, queue.longest_running_s) == (5, 4)
    queue.done("a")
    queue.done("b")
    assert (queue.unfinished_s, queue.longest_running_s) == (0, 0)
    assert queue.adds == 2
    assert (queue.queue_duration.count, queue.queue_duration.total) == (2, 7)
    assert (queue.work_duration.count, queue.work_duration.total) == (2, 5)
