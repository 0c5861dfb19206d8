"""Small questions about plain values that every walk asks."""

from typing import Any, Final

import msgspec
from msgspec import UNSET

from kubevirt.apiserver.apply import elements
from kubevirt.apiserver.apply.types import ListType

ABSENT: Final = UNSET
"""No value at all, where `None` is JSON's null."""

_canonical: Final = msgspec.json.Encoder(order="deterministic").encode


class NoElement(ValueError):  # noqa: N818  # it is what the item lacks
    """An item that has nothing to be known by."""


def is_same(one: Any, other: Any) -> bool:
    """Equal as JSON. Python's own equality takes `true` for 1; it is asked first, for it is fast."""
    if one is other:
        return True
    if one != other:
        return False
    if one.__class__ in _PLAIN:
        return one.__class__ is other.__class__ or bool not in (one.__class__, other.__class__)
    return _without_fractions(_canonical(one)) == _without_fractions(_canonical(other))


_PLAIN: Final = (str, int, float, bool, type(None))


def _without_fractions(text: bytes) -> bytes:
    # 1.0 and 1 are one number. Inside a string this changes both sides alike.
    return text.replace(b".0,", b",").replace(b".0}", b"}").replace(b".0]", b"]")


def element_of(item: Any, kind: ListType) -> str:
    """The step that leads to an item of a list that merges."""
    if kind.keys:
        return _key_of(item, kind)
    if isinstance(item, dict):
        raise NoElement("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise NoElement("not supported: associative list with lists as elements")
    if item is None:
        raise NoElement("associative list without keys has an element that's an explicit null")
    return elements.value(item)


def _key_of(item: Any, kind: ListType) -> str:
    if item is None:
        raise NoElement("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise NoElement("associative list with keys may not have non-map elements")
    element = kind.element.map
    if element is None:
        raise NoElement("associative list may not have non-map types")
    defaults = element.defaults
    found = [
        (name, item[name] if name in item else defaults[name])
        for name in kind.keys
        if name in item or name in defaults
    ]
    if not found:
        names = " ".join(f'"{name}"' for name in kind.keys)
        raise NoElement(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    found.sort()
    return elements.key(found)
