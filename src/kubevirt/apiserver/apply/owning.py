"""The fields that a configuration speaks of, hence owns when it is applied.

Leaves are owned, items of lists that merge, and fields that a schema does not name; named objects
on the way are not, unless they are empty.
"""

from typing import Any

from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.types import ListType, MapType, Type
from kubevirt.apiserver.apply.values import element_of


def fields_of(value: Any, kind: Type) -> FieldSet:
    made = FieldSet()
    if kind.map and isinstance(value, dict) and not kind.map.is_atomic:
        _map_into(made, value, kind.map)
    return made


def _owns_itself(value: Any, kind: Type | None, below: FieldSet) -> bool:
    """Fills `below`; says whether the value is a leaf."""
    if kind is None:
        return True
    if isinstance(value, dict) and kind.map:
        if kind.map.is_atomic:
            return True
        _map_into(below, value, kind.map)
        return False
    if isinstance(value, list) and kind.list:
        if not kind.list.is_associative:
            return True
        _list_into(below, value, kind.list)
        return False
    return True


def _map_into(made: FieldSet, value: dict[str, Any], kind: MapType) -> None:
    for name, child in value.items():
        step = "f:" + name
        below = FieldSet()
        known = kind.fields.get(name)
        is_leaf = _owns_itself(child, known or kind.element, below)
        if is_leaf or child is None or child == {} or known is None:
            made.members.add(step)
        if below:
            made.children[step] = below


def _list_into(made: FieldSet, value: list[Any], kind: ListType) -> None:
    steps = [element_of(item, kind) for item in value]
    made.members.update(steps)
    if len(made.members) == len(steps):
        twice: set[str] = set()
    else:
        twice = {step for step in steps if steps.count(step) > 1}
    for step, item in zip(steps, value, strict=True):
        if step in twice:
            continue
        below = FieldSet()
        _owns_itself(item, kind.element, below)
        if below:
            made.children[step] = below
