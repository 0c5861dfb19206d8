"""Which resource versions can be told to be older than which."""

import pytest

from kubevirt.kube.cache.resource_version import is_older, newest


@pytest.mark.parametrize(
    ("this", "than"), [("9", "10"), ("99", "100"), ("1", "2"), ("9" * 5000, "1" + "0" * 5000)]
)
def test_numbers_are_compared_as_numbers(this: str, than: str) -> None:
    assert is_older(this, than)
    assert not is_older(than, this)
    assert newest(this, than) == newest(than, this) == than


@pytest.mark.parametrize(
    ("this", "than"),
    [
        ("7", "7"),
        ("a", "b"),
        ("1", "b"),
        ("01", "2"),
        ("0", "1"),
        ("", "1"),
        (None, "1"),
        ("1", None),
        ("-1", "1"),
        ("1.5", "2"),
        ("\u0661", "2"),
    ],
)
def test_what_is_no_number_is_never_older(this: str | None, than: str | None) -> None:
    assert not is_older(this, than)
    assert not is_older(than, this)


def test_of_two_that_cannot_be_compared_the_later_one_counts() -> None:
    assert newest("b", "a") == "a"
    assert newest(None, "a") == "a"
    assert newest("a", None) == "a"
    assert newest("a", "") == "a"
