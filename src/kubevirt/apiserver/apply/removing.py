"""Taking fields out of an object: the other half of apply, for what is no longer applied."""

from typing import Any

from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.types import Type
from kubevirt.apiserver.apply.values import element_of


def remove(value: Any, fields: FieldSet, kind: Type | None) -> Any:
    """The value without these fields; null where nothing is left of it."""
    if isinstance(value, dict) and kind and kind.map:
        if not value or kind.map.is_atomic:
            return None
        kept = {}
        for name, child in value.items():
            step = "f:" + name
            if step in fields.members:
                continue
            below = fields.children.get(step)
            kept[name] = child if below is None else remove(child, below, kind.map.field(name))
        return kept or None
    if isinstance(value, list) and kind and kind.list:
        if not value or not kind.list.is_associative:
            return None
        items = []
        for item in value:
            step = element_of(item, kind.list)
            if step in fields.members:
                continue
            below = fields.children.get(step)
            items.append(item if below is None else remove(item, below, kind.list.element))
        return items or None
    return value


def with_named_fields(fields: FieldSet, kind: Type | None) -> FieldSet:
    """The set, and in it also the named objects above its members, which are otherwise nobody's."""
    names = kind.map.fields if kind and kind.map else {}
    members = set(fields.members)
    children = {}
    for step, below in fields.children.items():
        child: Type | None = None
        if step.startswith("f:"):
            name = step[2:]
            if name in names:
                members.add(step)
            child = kind.map.field(name) if kind and kind.map else None
        elif step.startswith("k:") and kind and kind.list:
            child = kind.list.element
        children[step] = with_named_fields(below, child)
    return FieldSet(members, children)
