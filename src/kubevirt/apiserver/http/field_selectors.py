"""Field selectors, read as Kubernetes reads them: `metadata.name=a,spec.nodeName!=b`.

Who may and what is picked are both decided on this one reading. Were there two, a text could name one
object to the first and all others to the second.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_TERM: Final = re.compile(r"(?:[^,\\]|\\.|\\\Z)+", re.DOTALL)
"""Up to a comma, but not to one behind a backslash."""
_OPERATOR: Final = re.compile(r"!=|==?")
_SPECIAL: Final = re.compile(r"\\.?|[,=]", re.DOTALL)
_MEANT: Final = {r"\\": "\\", r"\,": ",", r"\=": "="}


class Term(NamedTuple):
    field: str
    value: str
    is_equal: bool


class Unreadable(ValueError):  # noqa: N818  # it is what the text is
    """Says so in Kubernetes' words."""


def terms(text: str) -> list[Term]:
    """In Kubernetes' order: of what is wrong, the first in it is told."""
    return [_term(each, text) for each in sorted(_TERM.findall(text))]


def readable(text: str) -> list[Term]:
    """None of a text that is unreadable: whoever does what was asked refuses it."""
    try:
        return terms(text)
    except Unreadable:
        return []


def required(found: Iterable[Term], field: str) -> str:
    """The value that this field has in all that are let through; empty if any may do."""
    return next((each.value for each in found if each.field == field and each.is_equal), "")


def _term(text: str, whole: str) -> Term:
    operator = _OPERATOR.search(text)
    if operator is None:
        raise Unreadable(f"invalid selector: '{whole}'; can't understand '{text}'")
    value = _SPECIAL.sub(_meant, text[operator.end() :])
    return Term(text[: operator.start()], value, operator[0] != "!=")


def _meant(found: re.Match[str]) -> str:
    piece = found[0]
    if piece in ",=":
        raise Unreadable(f"invalid field selector: unescaped character in value: {ord(piece)}")
    if piece not in _MEANT:
        raise Unreadable(f"invalid field selector: invalid escape sequence: {piece}")
    return _MEANT[piece]
