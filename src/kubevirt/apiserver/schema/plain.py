"""Plain values: what JSON decodes to, and when two of them are the same."""

from typing import Any, Final

import msgspec
from msgspec import UNSET

ABSENT: Final = UNSET
"""No value at all, where `None` is JSON's null."""

_canonical: Final = msgspec.json.Encoder(order="deterministic").encode
_SCALARS: Final = (str, int, float, bool, type(None))


def is_same(one: Any, other: Any) -> bool:
    """Equal as JSON. Python's own equality takes `true` for 1; it is asked first, for it is fast."""
    if one is other:
        return True
    if one != other:
        return False
    if one.__class__ in _SCALARS:
        return one.__class__ is other.__class__ or bool not in (one.__class__, other.__class__)
    return _without_fractions(_canonical(one)) == _without_fractions(_canonical(other))


def _without_fractions(text: bytes) -> bytes:
    # 1.0 and 1 are one number. Inside a string this changes both sides alike.
    return text.replace(b".0,", b",").replace(b".0}", b"}").replace(b".0]", b"]")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
