"""The fields that a configuration speaks of, hence owns when it is applied.

Leaves are owned, items of lists that merge, and fields that a schema does not name; named objects
on the way are not, unless they are empty.
"""

from typing import Any

from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.types import ListType, MapType, Type
from kubevirt.apiserver.apply.values import element_of


def fields_of(value: Any, kind: Type) -> FieldSet:
    if kind.map and isinstance(value, dict) and not kind.map.is_atomic:
        return _of_map(value, kind.map)
    return FieldSet()


def _below(value: Any, kind: Type | None) -> FieldSet | None:
    """What a value holds that can be owned apart; None where it is a leaf."""
    if kind is None:
        return None
    if value.__class__ is dict:
        if kind.map and not kind.map.is_atomic:
            return _of_map(value, kind.map)
    elif value.__class__ is list and kind.list and kind.list.is_associative:
        return _of_list(value, kind.list)
    return None


def _of_map(value: dict[str, Any], kind: MapType) -> FieldSet:
    made = FieldSet()
    members, children = made.members, made.children
    fields, element = kind.fields, kind.element
    for name, child in value.items():
        step = "f:" + name
        if child.__class__ is not dict and child.__class__ is not list:
            members.add(step)
            continue
        known = fields.get(name)
        below = _below(child, known or element)
        if below is None or known is None or child == {}:
            members.add(step)
        if below:
            children[step] = below
    return made


def _of_list(value: list[Any], kind: ListType) -> FieldSet:
    made = FieldSet()
    steps = [element_of(item, kind) for item in value]
    made.members.update(steps)
    if len(made.members) == len(steps):
        twice: set[str] = set()
    else:
        # Which of them is meant, nobody can say: only that they are there is owned.
        twice = {step for step in steps if steps.count(step) > 1}
    for step, item in zip(steps, value, strict=True):
        if step not in twice and (below := _below(item, kind.element)):
            made.children[step] = below
    return made
