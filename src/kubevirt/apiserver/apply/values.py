"""What every walk over typed values asks."""

from typing import Any

from kubevirt.apiserver.apply import elements
from kubevirt.apiserver.apply.types import ListType


class NoElement(ValueError):  # noqa: N818  # it is what the item lacks
    """An item that has nothing to be known by."""


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
