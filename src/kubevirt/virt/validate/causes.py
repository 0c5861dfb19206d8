"""`Cause`: one thing that is wrong, and the field it is about.

Whoever judges an object yields causes; whoever answers shows the first few of them. So a spec with a
thousand mistakes costs what a spec with ten does: `first` stops asking.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import Final

import msgspec

SHOWN: Final = 10
"""Messages that an answer repeats; of the others it tells the number."""
COUNTED: Final = 1000
"""Causes that are looked for: nobody mends more at once, and a hostile spec would pay for more."""
VALUE_LIMIT: Final = 120


class Reason(StrEnum):
    """Kubernetes' reasons of causes, as far as they are used here."""

    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    NOT_FOUND = "FieldValueNotFound"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"


class Cause(msgspec.Struct, frozen=True):
    type: Reason
    field: str
    message: str


Causes = Iterator[Cause]


def invalid(field: str, message: str) -> Cause:
    return Cause(Reason.INVALID, field, message)


def required(field: str, message: str) -> Cause:
    return Cause(Reason.REQUIRED, field, message)


def duplicate(field: str, message: str) -> Cause:
    return Cause(Reason.DUPLICATE, field, message)


def not_supported(field: str, message: str) -> Cause:
    return Cause(Reason.NOT_SUPPORTED, field, message)


def forbidden(field: str, message: str) -> Cause:
    return Cause(Reason.FORBIDDEN, field, message)


def first(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """As many as are worth looking for."""
    return tuple(islice(causes, COUNTED))


def message_of(causes: Iterable[Cause]) -> str:
    """The sentence of a denial, as KubeVirt joins it."""
    messages = [cause.message for cause in causes]
    text = ", ".join(messages[:SHOWN])
    more = len(messages) - SHOWN
    return f"{text}, and {more} more validation errors" if more > 0 else text


def plain(value: object) -> str:
    """A value from outside within a message: shortened, and on one line."""
    text = str(value)
    text = text if len(text) <= VALUE_LIMIT else f"{text[: VALUE_LIMIT - 3]}..."
    return "".join(each if each.isprintable() else "?" for each in text)
