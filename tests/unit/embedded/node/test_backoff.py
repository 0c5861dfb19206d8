"""The wait before a container is started again."""

from datetime import timedelta

import pytest
from tests.unit.embedded.node.objects import at, ended

from kubevirt.embedded.node import backoff
from kubevirt.embedded.node.seen import Ended, Tried


def crashes(count: int) -> tuple[Tried, ...]:
    return tuple(ended(1, n, since=n, until=n + 0.5) for n in range(count))


@pytest.mark.parametrize(
    ("count", "seconds"),
    [(1, 0), (2, 10), (3, 20), (4, 40), (5, 80), (6, 160), (7, 300), (8, 300), (50, 300)],
)
def test_the_first_restart_is_at_once_and_each_further_one_twice_as_late(
    count: int, seconds: int
) -> None:
    assert backoff.between(crashes(count)) == timedelta(seconds=seconds)


def test_as_many_tries_as_are_kept_say_the_same_as_all() -> None:
    kept = crashes(20)[-backoff.TRIES_THAT_COUNT :]

    assert backoff.between(kept) == backoff.LONGEST


def test_who_stayed_up_for_ten_minutes_begins_anew() -> None:
    stayed = ended(1, 5, since=100, until=701)
    again = ended(1, 6, since=701, until=702)

    assert backoff.between((*crashes(5), stayed)) == timedelta()
    assert backoff.between((*crashes(5), stayed, again)) == timedelta(seconds=10)


def test_exactly_ten_minutes_are_not_enough() -> None:
    stayed = ended(1, 2, since=100, until=700)

    assert backoff.between((*crashes(2), stayed)) == timedelta(seconds=20)


def test_the_wait_counts_from_the_end() -> None:
    assert backoff.next_start(crashes(2)) == at(11.5)


def test_an_end_that_nobody_saw_counts_from_the_start() -> None:
    lost = Tried(number=0, started_at=at(5), ended=Ended(code=137))

    assert backoff.next_start((lost,)) == at(5)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (1, 10), (2, 20), (6, 300), (10**9, 300)]
)
def test_no_number_of_failures_is_too_large(failures: int, seconds: int) -> None:
    assert backoff.wait_after(failures) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (10, "10s"), (80, "1m20s"), (160, "2m40s"), (300, "5m0s")]
)
def test_waits_are_written_as_in_go(seconds: int, text: str) -> None:
    assert backoff.go_duration(timedelta(seconds=seconds)) == text
