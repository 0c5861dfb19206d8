"""Label selectors of a query, read as Kubernetes reads them: `a=b,c in (d,e),!f`. Its complaints are Kubernetes'.

Every word is a key or a value, but for `in` and `notin` where an operator has to stand. Selectors that stand
in objects are `schema/label_selectors.py`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from kubevirt.apiserver.refusals import Refusal, bad_request
from kubevirt.apiserver.schema import field_errors, names

Labels = Mapping[str, str]
Test = Callable[[Labels], bool]

_PIECE: Final = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!,()<>])|([^ \t\r\n=!,()<>]+))")
_OPERATORS: Final = ("in", "notin", "=", "==", "!=", "<", ">")
_SHOWN_OPERATORS: Final = "in, notin, =, ==, !=, gt, lt"
_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,63}")
"""Of no more digits than a label's value has characters."""
_WHOLE_NUMBERS: Final = range(-(2**63), 2**63)


def tests(text: str) -> list[Test]:
    """All have to hold. Raises a refusal of a text that is none."""
    return list(_Reader(text).requirements())


class _Piece(NamedTuple):
    text: str
    is_word: bool = False


_END: Final = _Piece("")


class _Reader:
    """Of one text, from its first piece to its last."""

    def __init__(self, text: str) -> None:
        self._pieces = [_Piece(a or b, is_word=bool(b)) for a, b in _PIECE.findall(text)]
        self._place = 0

    @property
    def _coming(self) -> _Piece:
        return self._pieces[self._place] if self._place < len(self._pieces) else _END

    def _next(self) -> _Piece:
        piece = self._coming
        self._place += 1
        return piece

    def requirements(self) -> Iterator[Test]:
        while self._coming != _END:
            if not self._is_requirement():
                found = self._coming.text
                raise bad_request(f"found '{found}', expected: !, identifier, or 'end of string'")
            yield self._requirement()
            piece = self._next()
            if piece.text not in ("", ","):
                raise bad_request(f"found '{piece.text}', expected: ',' or 'end of string'")
            if piece.text and not self._is_requirement():
                found = self._coming.text
                raise bad_request(f"found '{found}', expected: identifier after ','")

    def _is_requirement(self) -> bool:
        return self._coming.is_word or self._coming.text == "!"

    def _requirement(self) -> Test:
        is_absent = self._coming.text == "!" and bool(self._next())
        piece = self._next()
        if not piece.is_word:
            raise _unparsed(f"found '{piece.text}', expected: identifier")
        key = piece.text
        if wrong := names.qualified(key):
            raise _unparsed(str(field_errors.invalid(field_errors.NO_FIELD, key, "; ".join(wrong))))
        if is_absent:
            return lambda labels: key not in labels
        if self._coming.text in ("", ","):
            return lambda labels: key in labels
        operator = self._next().text
        if operator not in _OPERATORS:
            raise _unparsed(f"found '{operator}', expected: {_SHOWN_OPERATORS}")
        values = self._values() if operator in ("in", "notin") else {self._value()}
        _check(key, operator, sorted(values))
        return _test(key, operator, values)

    def _value(self) -> str:
        if self._coming.text in ("", ","):
            return ""
        piece = self._next()
        if not piece.is_word:
            raise _unparsed(f"found '{piece.text}', expected: identifier")
        return piece.text

    def _values(self) -> set[str]:
        """What stands in brackets; nothing between two commas is an empty value."""
        opening = self._next()
        if opening.text != "(":
            raise _unparsed(f"found '{opening.text}' expected: '('")
        first = self._coming
        if not (first.is_word or first.text in (",", ")")):
            raise _unparsed(f"found '{first.text}', expected: ',', ')' or identifier")
        values = {""} if first.text == ")" else self._some()
        self._next()
        return values

    def _some(self) -> set[str]:
        values: set[str] = set()
        while True:
            piece = self._next()
            coming = self._coming.text
            if piece.is_word:
                values.add(piece.text)
                if coming == ")":
                    return values
                if coming != ",":
                    raise _unparsed(f"found '{coming}', expected: ',' or ')'")
            elif piece.text == ",":
                if not values or coming in (",", ")"):
                    values.add("")
                if coming == ")":
                    return values
                if coming == ",":
                    self._next()
            else:
                raise _unparsed(f"found '{piece.text}', expected: ',', or identifier")


def _check(key: str, operator: str, values: list[str]) -> None:
    wrong = [
        field_errors.invalid(
            "values[0]", value, "for 'Gt', 'Lt' operators, the value must be an integer"
        )
        for value in values
        if operator in ("<", ">") and _whole_number(value) is None
    ]
    wrong += [
        field_errors.invalid(f"values[{place}][{key}]", value, "; ".join(said))
        for place, value in enumerate(values)
        if (said := names.label_value(value))
    ]
    if wrong:
        raise _unparsed(field_errors.aggregate(wrong))


def _test(key: str, operator: str, wanted: set[str]) -> Test:
    if operator in ("<", ">"):
        return _ordered(key, operator, *wanted)
    if operator in ("in", "=", "=="):
        return lambda labels: labels.get(key) in wanted
    return lambda labels: labels.get(key) not in wanted


def _ordered(key: str, operator: str, bound: str) -> Test:
    least_or_most = _whole_number(bound) or 0

    def holds(labels: Labels) -> bool:
        value = _whole_number(labels.get(key, ""))
        if value is None:
            return False
        return value > least_or_most if operator == ">" else value < least_or_most

    return holds


def _whole_number(text: str) -> int | None:
    """As Go reads one of 64 bits."""
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    value = int(text)
    return value if value in _WHOLE_NUMBERS else None


def _unparsed(words: str) -> Refusal:
    return bad_request(f"unable to parse requirement: {words}")
