"""What is wrong with a field, as the causes of a Status say it.

invalid("spec.size", 0, "must be positive")
FieldError("FieldValueInvalid", "spec.size", "Invalid value: 0: must be positive")
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.plain import is_number


class Reason(StrEnum):
    """Kubernetes' reasons of causes."""

    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    NOT_FOUND = "FieldValueNotFound"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    TYPE_INVALID = "FieldValueTypeInvalid"


class FieldError(Struct, frozen=True):
    reason: Reason
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


NO_FIELD: Final = "<nil>"
"""The field of an error about the whole object, as Go prints a path that is not there."""

BLOCKS_RULES: Final = (
    Reason.NOT_SUPPORTED,
    Reason.REQUIRED,
    Reason.TOO_LONG,
    Reason.TOO_MANY,
    Reason.TYPE_INVALID,
)
"""With one of these an object is too wrong for its rules to be asked."""


def required(field: str, detail: str = "") -> FieldError:
    return FieldError(Reason.REQUIRED, field, _with("Required value", detail))


def forbidden(field: str, detail: str) -> FieldError:
    return FieldError(Reason.FORBIDDEN, field, _with("Forbidden", detail))


def invalid(field: str, value: Any, detail: str) -> FieldError:
    return FieldError(Reason.INVALID, field, _with(f"Invalid value: {_value(value)}", detail))


def type_invalid(field: str, value: Any, detail: str) -> FieldError:
    return FieldError(Reason.TYPE_INVALID, field, _with(f"Invalid value: {_value(value)}", detail))


def duplicate(field: str, value: Any) -> FieldError:
    return FieldError(Reason.DUPLICATE, field, f"Duplicate value: {_value(value)}")


def not_found(field: str, value: Any, detail: str = "") -> FieldError:
    return FieldError(Reason.NOT_FOUND, field, _with(f"Not found: {_value(value)}", detail))


def not_supported(field: str, value: Any, supported: Iterable[Any]) -> FieldError:
    texts = (each if isinstance(each, str) else gotext.json(each) for each in supported)
    detail = ", ".join(map(gotext.quoted, texts))
    detail = f"supported values: {detail}" if detail else ""
    return FieldError(
        Reason.NOT_SUPPORTED, field, _with(f"Unsupported value: {_value(value)}", detail)
    )


def too_long(field: str, limit: int) -> FieldError:
    unit = "byte" if limit == 1 else "bytes"
    return FieldError(Reason.TOO_LONG, field, f"Too long: may not be more than {limit} {unit}")


def too_many(field: str, count: int, limit: int) -> FieldError:
    unit = "item" if limit == 1 else "items"
    return FieldError(
        Reason.TOO_MANY, field, f"Too many: {count}: must have at most {limit} {unit}"
    )


def aggregate(errors: Iterable[FieldError]) -> str:
    """All of them in one line, each once."""
    texts = list(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"


def invalid_message(qualified_kind: str, name: str, errors: Iterable[FieldError]) -> str:
    """The message of a 422: `Lamp.house.example "hall" is invalid: spec.watts: …`."""
    return f"{qualified_kind} {gotext.quoted(name)} is invalid: {aggregate(errors)}"


def _with(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


class Verbatim(Struct, frozen=True):
    """A value whose text is known already, such as one with the order of a Go struct."""

    text: str


def _value(value: Any) -> str:
    if isinstance(value, Verbatim):
        return value.text
    if isinstance(value, str):
        return gotext.quoted(value)
    return (
        gotext.shown(value) if is_number(value) or isinstance(value, bool) else gotext.json(value)
    )
