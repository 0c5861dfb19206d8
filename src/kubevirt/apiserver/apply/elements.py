"""Steps of a field path, as FieldsV1 writes them.

    f:spec                              a field of an object
    k:{"name":"web","protocol":"TCP"}   the item of a list with these key fields
    v:"finalizer.example"               the item of a set with this value
    i:3                                 the item of a list at this place (nobody writes these today)

A step is its text: equal steps are equal strings, so sets of them are Python's. The text of a value
is canonical, as Go writes it: keys sorted, whole floats without a fraction, `<`, `>` and `&` escaped.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from kubevirt.apiserver.schema import gotext

_decode: Final = msgspec.json.Decoder().decode


class BadElement(ValueError):  # noqa: N818  # it is what the text is
    """A text that is no step of a path."""


def field(name: str) -> str:
    return "f:" + name


def value(scalar: Any) -> str:
    return "v:" + _text(scalar)


def key(fields: Sequence[tuple[str, Any]]) -> str:
    """Of an item with these fields, sorted by name."""
    return "k:{" + ",".join(f"{_text(name)}:{_text(each)}" for name, each in fields) + "}"


def _text(scalar: Any) -> str:
    if scalar.__class__ is str and scalar.isalnum() and scalar.isascii():
        return f'"{scalar}"'
    return gotext.json(scalar)


@lru_cache(maxsize=4096)
def parse(text: str) -> str | None:
    """The canonical form of a step that somebody else wrote; None for kinds not known yet."""
    if len(text) < 2:
        raise BadElement("key must be 2 characters long:")
    if text[1] != ":":
        raise BadElement(f"missing colon: {text}")
    kind, rest = text[0], text[2:]
    try:
        match kind:
            case "f":
                return text
            case "v":
                return value(_decode(rest))
            case "k":
                return key(sorted(_decode(rest).items()))
            case "i":
                return f"i:{int(rest)}"
    except (ValueError, AttributeError, msgspec.DecodeError) as error:
        raise BadElement(str(error)) from error
    return None


def shown(element: str) -> str:
    """As conflicts and errors print it: `.spec`, `[name="web"]`, `[="finalizer"]`, `[3]`."""
    kind, rest = element[0], element[2:]
    match kind:
        case "f":
            return "." + rest
        case "k":
            pairs = (f"{name}={_shown(each)}" for name, each in sorted(_decode(rest).items()))
            return f"[{','.join(pairs)}]"
        case "v":
            return f"[={_shown(_decode(rest))}]"
        case _:
            return f"[{rest}]"


def _shown(scalar: Any) -> str:
    if scalar is None:
        return "null"
    return gotext.quoted(scalar) if isinstance(scalar, str) else gotext.shown(scalar)


def order(element: str) -> tuple[Any, ...]:
    """A sort key in Kubernetes' order: fields, keys, values, indexes; numbers by size."""
    kind, rest = element[0], element[2:]
    match kind:
        case "f":
            return (0, rest)
        case "k":
            pairs = sorted(_decode(rest).items())
            return (1, tuple((name, *_scalar_order(each)) for name, each in pairs))
        case "v":
            return (2, *_scalar_order(_decode(rest)))
        case _:
            return (3, int(rest))


def _scalar_order(scalar: Any) -> tuple[int, Any]:
    """Numbers, then strings, then booleans, then the rest by its text."""
    if isinstance(scalar, bool):
        return (2, scalar)
    if isinstance(scalar, int | float):
        return (0, scalar)
    if isinstance(scalar, str):
        return (1, scalar)
    return (3, _text(scalar))
