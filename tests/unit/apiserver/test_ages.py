"""Ages as kubectl's users know them."""

import pytest

from kubevirt.apiserver.kinds.columns.ages import age, duration

M, H, D = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-0.5, "0s"),
        (0, "0s"),
        (119, "119s"),
        (2 * M, "2m"),
        (2 * M + 1, "2m1s"),
        (10 * M + 59, "10m"),
        (179 * M, "179m"),
        (3 * H, "3h"),
        (7 * H + 59 * M, "7h59m"),
        (47 * H + 59 * M, "47h"),
        (2 * D, "2d"),
        (7 * D + 23 * H, "7d23h"),
        (8 * D, "8d"),
        (729 * D, "729d"),
        (730 * D, "2y"),
        (2 * 365 * D + 3 * D, "2y3d"),
        (8 * 365 * D + 3 * D, "8y"),
    ],
)
def test_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_time_that_is_none_has_no_age() -> None:
    assert age(None, 0) == "<unknown>"
    assert age("yesterday", 0) == "<invalid>"
    assert age("1970-01-01T00:00:00Z", 5) == "5s"
