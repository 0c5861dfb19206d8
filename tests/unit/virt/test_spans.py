"""A short while after a moment that somebody else has noted."""

from datetime import timedelta

from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.spans import end_of

SPAN = timedelta(seconds=5)


def test_a_while_ends() -> None:
    assert end_of(EPOCH, SPAN, EPOCH) == EPOCH + SPAN
    assert end_of(EPOCH, SPAN, EPOCH + SPAN) is None
    assert end_of(None, SPAN, EPOCH) is None


def test_a_clock_that_is_an_hour_ahead_is_not_waited_for() -> None:
    assert end_of(EPOCH + timedelta(seconds=1), SPAN, EPOCH) == EPOCH + timedelta(seconds=6)
    assert end_of(EPOCH + timedelta(hours=1), SPAN, EPOCH) is None
