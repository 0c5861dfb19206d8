"""What a reader is shown of lines in a log."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from kubevirt.embedded.runtime.log_lines import Shown, Wanted, is_piece, stamp

LINES = (
    b"2026-11-15T10:00:00.000000001Z stdout F one\n"
    b"2026-11-15T10:00:01.500000000Z stderr F two  words\n"
    b"2026-11-15T10:00:02.000000000Z stdout P thr\n"
    b"2026-11-15T10:00:03.000000000Z stdout F ee\n"
    b"2026-11-15T10:00:04.000000000Z stdout F \n"
)
WITH_TIMES = (
    b"2026-11-15T10:00:00.000000001Z one\n"
    b"2026-11-15T10:00:02.000000000Z three\n"
    b"2026-11-15T10:00:04.000000000Z \n"
)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Wanted(), b"one\ntwo  words\nthree\n\n"),
        (Wanted(stream="stdout"), b"one\nthree\n\n"),
        (Wanted(stream="stderr"), b"two  words\n"),
        (Wanted(limit=5), b"one\nt"),
        (Wanted(since=datetime(2026, 11, 15, 10, 0, 1, 500_000, UTC)), b"two  words\nthree\n\n"),
        (
            Wanted(since=datetime(2026, 11, 15, 11, 0, 2, tzinfo=timezone(timedelta(hours=1)))),
            b"three\n\n",
        ),
        (Wanted(has_times=True, stream="stdout"), WITH_TIMES),
    ],
)
def test_what_is_wanted_is_shown(wanted: Wanted, text: bytes) -> None:
    assert Shown(wanted).of(LINES) == text


def test_a_line_that_is_cut_between_two_reads_is_one() -> None:
    shown = Shown(Wanted(has_times=True))
    lines = LINES.splitlines(keepends=True)

    text = b"".join(shown.of(each) for each in lines[2:4])

    assert text == b"2026-11-15T10:00:02.000000000Z three\n"


def test_a_limit_counts_over_all_reads() -> None:
    shown = Shown(Wanted(limit=6))

    assert [shown.of(LINES[:44]), shown.is_full] == [b"one\n", False]
    assert [shown.of(LINES[44:]), shown.is_full] == [b"tw", True]


def test_what_is_no_line_is_left_out() -> None:
    assert Shown(Wanted()).of(b"nonsense\n\n2026 stdout\n") == b""


def test_a_time_is_written_as_in_a_log() -> None:
    assert stamp(datetime(2026, 1, 2, 3, 4, 5, 60, UTC)) == b"2026-01-02T03:04:05.000060000Z"


def test_pieces_are_known() -> None:
    assert is_piece(b"2026-11-15T10:00:02.000000000Z stdout P thr P")
    assert not is_piece(b"2026-11-15T10:00:02.000000000Z stdout F thr P")
    assert not is_piece(b"nonsense")
