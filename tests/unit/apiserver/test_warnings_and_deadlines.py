"""How much a server says beside an answer, and how long it takes for one."""

import math

import pytest

from kubevirt.apiserver.http.deadlines import deadline
from kubevirt.apiserver.http.warnings import shown
from kubevirt.apiserver.refusals import Refusal


def test_each_warning_is_said_once_and_quoted() -> None:
    assert shown(['say "a"', "b\\c", 'say "a"', ""]) == ['299 - "say \\"a\\""', '299 - "b\\\\c"']


@pytest.mark.parametrize("text", ["a\nb", "a\x00", "\x7f", "a\x85b", "\ud800"])
def test_what_no_header_can_hold_is_left_out(text: str) -> None:
    assert shown([text, "fine"]) == ['299 - "fine"']


def test_warnings_that_fit_are_not_cut() -> None:
    assert len(shown(["x" * 4096])[0]) == 4096 + len('299 - ""')


def test_too_many_warnings_are_short_and_few() -> None:
    found = shown(f"{number:04}" + "x" * 400 for number in range(100))
    assert len(found) == 16
    assert all(each.count("x") == 252 for each in found)


@pytest.mark.parametrize(
    ("verb", "timeout", "expected"),
    [
        ("create", "", 134.0),
        ("create", "5s", 105.0),
        ("update", "1m", 134.0),
        ("patch", "1.5s", 101.5),
        ("delete", "1s500ms", 101.5),
        ("create", "0", 134.0),
        ("create", "0s", 134.0),
        ("get", "5s", math.inf),
        ("deletecollection", "5s", math.inf),
    ],
)
def test_deadlines(verb: str, timeout: str, expected: float) -> None:
    assert deadline(verb, {"timeout": timeout}, 100.0) == expected


@pytest.mark.parametrize("timeout", ["5", "s", "soon", "-5s", "5s ", "5 s"])
def test_times_that_are_none(timeout: str) -> None:
    with pytest.raises(Refusal, match="invalid timeout specified in the request URL"):
        deadline("create", {"timeout": timeout}, 0.0)
