"""What changed between two objects, field by field."""

from collections import defaultdict
from typing import Any

from msgspec import Struct

from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.types import ListType, MapType, Type
from kubevirt.apiserver.apply.values import element_of
from kubevirt.apiserver.schema.plain import ABSENT, is_same


class Changes(Struct, eq=False):
    """No field is in more than one of the three."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet

    @classmethod
    def none(cls) -> "Changes":
        return cls(FieldSet(), FieldSet(), FieldSet())

    def __bool__(self) -> bool:
        return bool(self.removed or self.modified or self.added)

    def without(self, fields: FieldSet) -> "Changes":
        return Changes(
            self.removed.without(fields), self.modified.without(fields), self.added.without(fields)
        )


def compare(old: Any, new: Any, kind: Type) -> Changes:
    made = Changes.none()
    if kind.map and not is_same(old, new):
        _compare_maps(old, new, kind.map, made)
    return made


def _compare(step: str, old: Any, new: Any, kind: Type | None, made: Changes) -> None:
    """Both are present."""
    if is_same(old, new):
        return
    below = Changes.none()
    ways = {_way(old, kind), _way(new, kind)}
    for way in ways:
        is_leaf = True
        if kind and way == "map" and kind.map:
            is_leaf = _compare_maps(old, new, kind.map, below)
        elif kind and way == "list" and kind.list:
            is_leaf = _compare_lists(old, new, kind.list, below)
        if is_leaf:
            made.modified.members.add(step)
    if below.removed:
        made.removed.children[step] = below.removed
    if below.modified:
        made.modified.children[step] = below.modified
    if below.added:
        made.added.children[step] = below.added


def _way(value: Any, kind: Type | None) -> str:
    """Which of the things that a type allows this value is; the first one where it is none."""
    if kind is None:
        return "scalar"
    if isinstance(value, dict):
        if kind.map:
            return "map"
    elif isinstance(value, list):
        if kind.list:
            return "list"
    elif value is not None and kind.scalar:
        return "scalar"
    if kind.map:
        return "map"
    return "scalar" if kind.scalar else "list"


def _compare_maps(old: Any, new: Any, kind: MapType, made: Changes) -> bool:
    """Whether they are one leaf: atomic, or empty on both sides."""
    before = old if isinstance(old, dict) else {}
    after = new if isinstance(new, dict) else {}
    if kind.is_atomic or not (before or after):
        return True
    for name, value in before.items():
        step = "f:" + name
        other = after.get(name, ABSENT)
        if other is ABSENT:
            _whole(step, value, kind.field(name), made.removed)
        elif value is not other:
            _compare(step, value, other, kind.field(name), made)
    for name, value in after.items():
        if name not in before:
            _whole("f:" + name, value, kind.field(name), made.added)
    return False


def _compare_lists(old: Any, new: Any, kind: ListType, made: Changes) -> bool:
    before = old if isinstance(old, list) else []
    after = new if isinstance(new, list) else []
    if not kind.is_associative or not (before or after):
        return True
    old_items, new_items = _by_step(before, kind), _by_step(after, kind)
    for step in {**old_items, **new_items}:
        _compare_items(step, old_items.get(step, []), new_items.get(step, []), kind, made)
    return False


def _by_step(items: list[Any], kind: ListType) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        found[element_of(item, kind)].append(item)
    return dict(found)


def _compare_items(
    step: str, old: list[Any], new: list[Any], kind: ListType, made: Changes
) -> None:
    """Items that occur twice are compared as one leaf: nobody can tell which is which."""
    match len(old), len(new):
        case 1, 1:
            _compare(step, old[0], new[0], kind.element, made)
        case 1, 0:
            _whole(step, old[0], kind.element, made.removed)
        case 0, 1:
            _whole(step, new[0], kind.element, made.added)
        case before, after if before > 1 and after > 1:
            if not is_same(old, new):
                made.modified.members.add(step)
        case before, after if before > 1:
            if after:
                _whole(step, new[0], kind.element, made.added)
            made.removed.members.add(step)
        case before, _:
            if before:
                _whole(step, old[0], kind.element, made.removed)
            made.added.members.add(step)


def _whole(step: str, value: Any, kind: Type | None, made: FieldSet) -> None:
    """A value that came or went, with everything in it."""
    made.members.add(step)
    below = _everything(value, kind)
    if below:
        made.children[step] = below


def _everything(value: Any, kind: Type | None) -> FieldSet | None:
    if kind is None or not value:
        return None
    made = FieldSet()
    if isinstance(value, dict):
        if kind.map is None or kind.map.is_atomic:
            return None
        fields, element = kind.map.fields, kind.map.element
        for name, child in value.items():
            step = "f:" + name
            made.members.add(step)
            if child.__class__ in _CONTAINERS and (
                below := _everything(child, fields.get(name, element))
            ):
                made.children[step] = below
    elif isinstance(value, list):
        if kind.list is None or not kind.list.is_associative:
            return None
        for step, items in _by_step(value, kind.list).items():
            made.members.add(step)
            if len(items) == 1 and (below := _everything(items[0], kind.list.element)):
                made.children[step] = below
    return made


_CONTAINERS = (dict, list)
