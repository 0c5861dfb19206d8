"""When a silent stream counts as dead."""

import pytest

from kubevirt.kube.cache.pulse import Pulse


def test_a_stream_without_bookmarks_has_the_whole_limit() -> None:
    pulse = Pulse(75, now=100)
    assert pulse.deadline == 175
    assert pulse.beat(150)
    assert pulse.deadline == 225


def test_a_deadline_does_not_move_for_every_event() -> None:
    pulse = Pulse(75, now=100)
    assert not pulse.beat(100.5)
    assert pulse.deadline == 175
    assert pulse.beat(101)


@pytest.mark.parametrize(("gap_s", "limit_s"), [(60, 75), (20, 50), (10, 25), (1, 10)])
def test_the_limit_follows_the_rhythm_of_bookmarks(gap_s: float, limit_s: float) -> None:
    pulse = Pulse(75, now=0)
    pulse.beat(3, is_bookmark=True)
    assert pulse.limit_s == 75
    pulse.beat(3 + gap_s, is_bookmark=True)
    assert pulse.limit_s == limit_s
    assert pulse.deadline == 3 + gap_s + limit_s


def test_the_bookmark_before_the_end_does_not_count_as_a_rhythm() -> None:
    pulse = Pulse(75, now=0)
    for now in (20, 40, 41):
        pulse.beat(now, is_bookmark=True)
    assert pulse.limit_s == 50
