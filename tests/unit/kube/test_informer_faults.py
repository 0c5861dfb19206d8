"""What an informer does when the server, or the way to it, is in trouble."""

import random
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from tests.lamps import LAMPS, Lamp, Listener, key, lamp, running

from kubevirt.api.meta import Status
from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.kube.cache.reflector import ReflectorSettings, StaleAnswer
from kubevirt.kube.errors import Forbidden, NotFound
from kubevirt.kube.informer import Informer
from kubevirt.testing.faulty_server import FaultyServer, overloaded

pytestmark = pytest.mark.virtual_time


@pytest.fixture
def server(clock: Clock) -> FaultyServer:
    return FaultyServer(clock)


@pytest.fixture
async def informer(server: FaultyServer, clock: Clock) -> AsyncIterator[Informer[Lamp]]:
    """One that has seen the lamp in the hall."""
    server.create(LAMPS, lamp("hall"))
    informer = Informer(server, LAMPS, clock=clock, randomness=random.Random(7))
    async with running(informer):
        await informer.wait_synced()
        yield informer


@pytest.fixture
def listener(informer: Informer[Lamp]) -> Listener:
    """Hears what happens after the lamp in the hall."""
    listener = Listener()
    informer.add_handler(listener)
    listener.changes.clear()
    return listener


def trouble(informer: Informer[Lamp]) -> Exception | None:
    return informer.last_error


async def test_before_the_first_list_an_informer_is_not_synced_and_says_why(
    server: FaultyServer, clock: Clock
) -> None:
    server.go_down()
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await clock.sleep(600)
        assert not informer.is_synced
        assert isinstance(trouble(informer), Unreachable)
        server.come_back()
        await informer.wait_synced()
        assert trouble(informer) is None


async def test_a_watch_that_the_server_ends_goes_on_at_once_where_it_was(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    await clock.sleep(5)
    server.close_streams()
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(0.1)
    assert listener.heard == ["added desk white"]
    assert server.requests == ["stream list", "watch 8"]
    assert informer.counts["failures"] == 0


async def test_a_broken_watch_goes_on_where_it_was_after_a_moment(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    await clock.sleep(30)
    server.drop_streams()
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(0.5)
    assert listener.heard == []
    await clock.sleep(1.5)
    assert listener.heard == ["added desk white"]
    assert server.requests == ["stream list", "list limit=1", "watch 8"]
    assert informer.counts["lists"] == 1


async def test_an_event_cut_in_two_comes_whole_the_second_time(
    server: FaultyServer, listener: Listener, clock: Clock
) -> None:
    server.truncate_streams()
    server.create(LAMPS, lamp("desk"))
    server.delete(LAMPS, key("hall"))
    await clock.sleep(5)
    assert listener.heard == ["added desk white", "deleted hall white"]


async def test_what_happened_during_an_outage_is_told_afterwards(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    server.go_down()
    server.create(LAMPS, lamp("desk"))
    server.update(LAMPS, key("desk"), {"colour": "red"})
    server.delete(LAMPS, key("hall"))
    await clock.sleep(300)
    assert isinstance(trouble(informer), Unreachable)
    assert listener.heard == []
    server.come_back()
    await clock.sleep(60)
    assert listener.heard == ["added desk white", "updated desk red", "deleted hall white"]
    assert trouble(informer) is None


async def test_a_server_that_is_back_and_has_nothing_to_tell_is_no_trouble_any_more(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    await clock.sleep(30)
    server.drop_streams()
    await clock.sleep(0.1)
    assert isinstance(trouble(informer), Unreachable)
    await clock.sleep(2)
    assert trouble(informer) is None


async def test_after_forgotten_history_the_difference_is_told(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    server.go_down()
    server.update(LAMPS, key("desk"), {"colour": "red"})
    server.update(LAMPS, key("desk"), {"colour": "blue"})
    server.delete(LAMPS, key("hall"))
    server.create(LAMPS, lamp("bed"))
    server.create(LAMPS, lamp("never-seen"))
    server.delete(LAMPS, key("never-seen"))
    server.compact()
    server.come_back()
    await clock.sleep(10)
    assert listener.heard == [
        "added desk white",
        "added bed white",
        "updated desk blue",
        "deleted hall white",
    ]
    assert informer.counts["lists"] == 2


async def test_a_list_that_confirms_the_cache_tells_nothing_and_replaces_nothing(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    before = informer.get(key("hall"))
    server.go_down()
    server.create(LAMPS, lamp("desk"))
    server.delete(LAMPS, key("desk"))
    server.compact()
    server.come_back()
    await clock.sleep(10)
    assert informer.counts["lists"] == 2
    assert listener.heard == []
    assert informer.get(key("hall")) is before


async def test_a_list_that_starts_over_in_the_middle_leaves_nothing_of_its_first_half(
    server: FaultyServer, clock: Clock
) -> None:
    server.streams_lists = False
    for number in range(20):
        server.create(LAMPS, lamp(f"lamp{number:02}"))
    settings = ReflectorSettings(page_size=8)
    informer = Informer(server, LAMPS, clock=clock, settings=settings)
    listener = Listener()
    informer.add_handler(listener)
    async with running(informer):
        while "list continue" not in server.requests:
            await clock.sleep(0)
        server.delete(LAMPS, key("lamp00"))
        server.compact()
        await informer.wait_synced()
    assert len(informer) == 19
    assert "added lamp00 white" not in listener.heard


async def test_a_list_that_breaks_off_tells_nothing(server: FaultyServer, clock: Clock) -> None:
    server.streams_lists = False
    for number in range(20):
        server.create(LAMPS, lamp(f"lamp{number:02}"))
    informer = Informer(server, LAMPS, clock=clock, settings=ReflectorSettings(page_size=8))
    listener = Listener()
    informer.add_handler(listener)
    async with running(informer):
        while "list continue" not in server.requests:
            await clock.sleep(0)
        server.go_down()
        await clock.sleep(1)
        assert listener.heard == []
        assert not informer.is_synced
        server.come_back()
        await informer.wait_synced()
    assert len(listener.heard) == 20


async def test_a_stream_that_ends_before_its_list_is_complete_is_followed_by_pages(
    server: FaultyServer, clock: Clock
) -> None:
    for name in ("desk", "hall", "bed"):
        server.create(LAMPS, lamp(name))
    server.delay_s = 1.0
    informer = Informer(server, LAMPS, clock=clock)
    listener = Listener()
    informer.add_handler(listener)
    async with running(informer):
        await clock.sleep(3.5)
        server.close_streams()
        await clock.sleep(1)
        assert listener.heard == []
        await informer.wait_synced()
    assert len(listener.heard) == 3
    assert server.requests[:2] == ["stream list", "list limit=500"]


async def test_a_server_that_never_ends_its_streamed_list_is_read_in_pages(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk"))
    server.delay_s = 0.1
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await clock.sleep(0.05)
        server.stall_streams()
        began = clock.monotonic()
        await informer.wait_synced()
    assert clock.monotonic() - began < 70


async def test_changes_between_the_objects_of_a_streamed_list_are_not_lost(
    server: FaultyServer, clock: Clock
) -> None:
    for number in range(10):
        server.create(LAMPS, lamp(f"lamp{number}"))
    server.delay_s = 1.0
    informer = Informer(server, LAMPS, clock=clock)
    listener = Listener()
    informer.add_handler(listener)
    async with running(informer):
        await clock.sleep(5.5)
        server.delete(LAMPS, key("lamp1"))
        server.delete(LAMPS, key("lamp9"))
        server.update(LAMPS, key("lamp2"), {"colour": "red"})
        await clock.sleep(20)
    assert listener.heard == [
        "added lamp0 white",
        "added lamp2 red",
        *(f"added lamp{number} white" for number in range(3, 9)),
    ]


async def test_a_silent_watch_is_given_up_and_nothing_is_missed(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    server.stall_streams()
    server.create(LAMPS, lamp("desk"))
    began = clock.monotonic()
    while not listener.heard:
        await clock.sleep(1)
    assert clock.monotonic() - began <= 75 + 2
    assert informer.counts["lists"] == 1
    assert server.requests == ["stream list", "list limit=1", "watch 8"]


async def test_a_server_that_hangs_is_asked_and_found_out(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    server.hang()
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(75 + 61)
    assert isinstance(trouble(informer), Unreachable)
    assert "no answer within 60 s" in str(trouble(informer))
    server.go_on()
    await clock.sleep(60)
    assert listener.heard == ["added desk white"]
    assert informer.counts["lists"] == 1


async def test_a_page_that_never_comes_is_not_waited_for_forever(
    server: FaultyServer, clock: Clock
) -> None:
    server.streams_lists = False
    for number in range(20):
        server.create(LAMPS, lamp(f"lamp{number}"))
    informer = Informer(server, LAMPS, clock=clock, settings=ReflectorSettings(page_size=8))
    async with running(informer):
        while "list continue" not in server.requests:
            await clock.sleep(0)
        server.hang()
        await clock.sleep(61)
        assert "no page of the list came within 60 s" in str(trouble(informer))
        server.go_on()
        await informer.wait_synced()
        assert len(informer) == 20


async def test_silence_is_no_error_as_long_as_the_server_answers(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """A server need not send bookmarks, and a quiet collection has no events."""
    for _ in range(10):
        server.stall_streams()
        await clock.sleep(76)
    assert informer.counts["silences"] == 10
    assert informer.counts["failures"] == 0
    assert trouble(informer) is None
    assert caplog.text == ""
    server.stall_streams()
    server.go_down()
    await clock.sleep(80)
    assert isinstance(trouble(informer), Unreachable)


async def test_a_server_with_a_faster_pulse_is_given_up_sooner(clock: Clock) -> None:
    server = FaultyServer(clock, bookmark_every_s=10)
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await clock.sleep(45)
        server.stall_streams()
        server.create(LAMPS, lamp("desk"))
        began = clock.monotonic()
        while not len(informer):
            await clock.sleep(0.5)
    assert clock.monotonic() - began <= 30


async def test_bookmarks_keep_a_quiet_watch_young(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    """Others write, we hear nothing for an hour, the server forgets all of it: no list is needed."""
    chairs = Resource("example.io", "v1", "chairs", "Chair", namespaced=True, type=Lamp)
    for number in range(60):
        server.create(chairs, lamp(f"chair{number}"))
        await clock.sleep(61)
        server.compact()
    assert informer.counts["lists"] == 1
    assert informer.counts["failures"] == 0
    assert listener.heard == []


async def test_rights_and_kinds_that_come_later_are_waited_for(
    server: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    forbidden = Forbidden(Status(code=403, message="lamps is forbidden"))
    missing = NotFound(Status(code=404, message="no such kind"))
    server.fail_next(*[forbidden] * 6, *[missing] * 6)
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await clock.sleep(1)
        assert trouble(informer) is forbidden
        await informer.wait_synced()
        assert trouble(informer) is None
    # Each trouble is said once, not at every try.
    assert caplog.text.count("cannot follow") == 2


@pytest.mark.parametrize("streams_lists", [True, False])
async def test_where_lists_work_and_watches_break_the_log_tells_it_once(
    server: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture, *, streams_lists: bool
) -> None:
    caplog.set_level("INFO")
    server.streams_lists = streams_lists
    server.breaks_watches = True
    informer = Informer(server, LAMPS, clock=clock)
    async with running(informer):
        await informer.wait_synced()
        await clock.sleep(3600)
        assert informer.counts["failures"] > 50
        assert caplog.text.count("cannot follow") == 1
        assert "following again" not in caplog.text
        server.breaks_watches = False
        await clock.sleep(60)
        assert trouble(informer) is None
        server.create(LAMPS, lamp("desk"))
        await clock.sleep(1)
        assert caplog.text.count("following again") == 1
        server.breaks_watches = True
        server.drop_streams()
        await clock.sleep(600)
        assert caplog.text.count("cannot follow") == 2, "it is another trouble by now"


async def test_waits_grow_to_half_a_minute_and_are_spread(
    server: FaultyServer, clock: Clock
) -> None:
    server.go_down()
    informer = Informer(server, LAMPS, clock=clock, randomness=random.Random(3))
    times: list[float] = []
    async with running(informer):
        for _ in range(12):
            seen = len(server.requests)
            while len(server.requests) == seen:
                await clock.sleep(0.01)
            times.append(clock.monotonic())
    waits = [after - before for before, after in pairwise(times)]
    assert 0.8 <= waits[0] <= 1.7
    assert 1.6 <= waits[1] <= 3.3
    assert all(30 <= wait <= 60.1 for wait in waits[6:])
    assert len({round(wait) for wait in waits[6:]}) > 2


async def test_the_time_that_a_server_names_is_waited_for(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    await clock.sleep(5)
    server.fail_next(overloaded(429, after_s=20))
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    server.close_streams()
    server.create(LAMPS, lamp("bed"))
    await clock.sleep(19)
    assert listener.heard == ["added desk white"]
    await clock.sleep(2)
    assert listener.heard == ["added desk white", "added bed white"]


async def test_a_server_that_closes_every_watch_at_once_is_not_hammered(
    server: FaultyServer, informer: Informer[Lamp], clock: Clock
) -> None:
    for _ in range(600):
        server.close_streams()
        await clock.sleep(0.1)
    assert len(server.requests) < 20


async def test_an_answer_from_the_past_brings_nothing_back(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    """A replica that is behind, and does not know it, still shows what was deleted."""
    past = server.history.number
    server.delete(LAMPS, key("hall"))
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(1)
    assert listener.heard == ["deleted hall white", "added desk white"]

    server.fall_behind(to=past, lies=True)
    server.drop_streams()
    await clock.sleep(30)
    assert isinstance(trouble(informer), StaleAnswer)
    assert "8, but 10 was seen before" in str(trouble(informer))
    server.catch_up()
    await clock.sleep(60)
    assert trouble(informer) is None
    assert listener.heard == ["deleted hall white", "added desk white"]


async def test_changes_that_are_sent_once_more_are_not_told_once_more(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    server.create(LAMPS, lamp("desk"))
    server.delete(LAMPS, key("desk"))
    server.update(LAMPS, key("hall"), {"colour": "red"})
    await clock.sleep(5)
    told = ["added desk white", "deleted desk white", "updated hall red"]
    assert listener.heard == told
    server.repeats = 3
    server.close_streams()
    await clock.sleep(5)
    assert informer.counts["replays"] > 0
    assert listener.heard == told


async def test_a_replica_that_is_behind_is_waited_for(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    server.fall_behind()
    server.drop_streams()
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(20)
    assert listener.heard == []
    server.catch_up()
    await clock.sleep(30)
    assert listener.heard == ["added desk white"]


async def test_a_server_restored_from_a_backup_is_followed_into_the_past(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    backup = server.history.number
    server.create(LAMPS, lamp("desk"))
    server.update(LAMPS, key("hall"), {"colour": "red"})
    await clock.sleep(1)
    server.restore(backup)
    await clock.sleep(30)
    assert isinstance(trouble(informer), StaleAnswer)
    await clock.sleep(120)
    assert trouble(informer) is None
    assert listener.heard == [
        "added desk white",
        "updated hall red",
        "updated hall white",
        "deleted desk white",
    ]
    # What was seen before the restore does not count any more, also not in the next list.
    server.go_down()
    server.create(LAMPS, lamp("bed"))
    server.compact()
    server.come_back()
    await clock.sleep(10)
    assert listener.heard[-1] == "added bed white"


async def test_a_bug_on_the_way_is_survived_and_shown(
    server: FaultyServer, informer: Informer[Lamp], listener: Listener, clock: Clock
) -> None:
    await clock.sleep(5)
    server.fail_next(ZeroDivisionError("a bug"))
    server.close_streams()
    await clock.sleep(0.5)
    assert isinstance(trouble(informer), ZeroDivisionError)
    server.create(LAMPS, lamp("desk"))
    await clock.sleep(10)
    assert listener.heard == ["added desk white"]
    assert informer.counts["lists"] == 2
