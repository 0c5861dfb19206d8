"""The tree of errors is as it is drawn, and says what is a bug."""

import re

import pytest

from kubevirt.base import errors
from kubevirt.base.errors import CommandFailed, KubevirtError, ProgramNotFound, Retry, UserError


def drawn() -> dict[str, str]:
    """Each class of the picture, with the one that it hangs under."""
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        branch = re.fullmatch(r"    ([│├└─ ]*)([A-Z]\w+)(  .*)?", line)
        if branch:
            depth = len(branch[1]) // 4
            path[depth:] = [branch[2]]
            parents[branch[2]] = path[depth - 1] if depth else "Exception"
    return parents


def test_the_tree_is_as_it_is_drawn() -> None:
    real = {
        name: thing.__bases__[0].__name__
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, KubevirtError)
    }
    assert drawn() == real


@pytest.mark.parametrize(
    ("error", "bug"),
    [
        (UserError("mend it"), False),
        (Retry("later"), False),
        (ExceptionGroup("both", [UserError("a"), Retry("b")]), False),
        (ExceptionGroup("one", [UserError("a"), KeyError("b")]), True),
        (ValueError("x"), True),
        (TimeoutError(), True),
    ],
)
def test_whatever_nobody_raised_on_purpose_is_a_bug(error: Exception, bug: bool) -> None:  # noqa: FBT001
    assert errors.is_bug(error) == bug


def test_last_words_are_short_and_fit_one_line() -> None:
    noise = (
        b"x" * 10_000 + b"\n" + b"\n".join(b"line %d" % n for n in range(100)) + b"\r\n\x1b[1mEnd\n"
    )
    message = str(CommandFailed("tool", "ended with exit code 1", stderr=noise))
    assert message.endswith("line 96; line 97; line 98; line 99;  [1mEnd")
    assert len(message) < 600


def test_a_missing_program_without_a_known_package_still_has_a_way_out() -> None:
    text = str(ProgramNotFound("tool", "/usr/bin"))
    assert text == "there is no program tool in /usr/bin; install it or give its full path"
