"""Ownership after a schema changed: fields of what became atomic are owned as one.

The other way, from atomic to granular, needs nothing: whoever owned the whole keeps owning it.
"""

from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.types import DEDUCED, Type


def reconciled(fields: FieldSet, kind: Type) -> FieldSet:
    """The same set where nothing changed, which is nearly always."""
    outdated = FieldSet()
    _find_outdated(fields, kind, outdated)
    return (fields.without(outdated) | outdated) if outdated else fields


def _find_outdated(fields: FieldSet, kind: Type, outdated: FieldSet) -> None:
    """Collects into `outdated` the steps below which there should be no fields any more."""
    for step, below in fields.children.items():
        child = _child(step, kind)
        if child is None:
            continue
        if _is_atomic(child):
            outdated.members.add(step)
            continue
        inner = FieldSet()
        _find_outdated(below, child, inner)
        if inner:
            outdated.children[step] = inner


def _child(step: str, kind: Type) -> Type | None:
    """A type may allow several things; a map comes first, then a scalar, then a list."""
    if kind.map:
        return kind.map.field(step[2:]) if step.startswith("f:") else kind.map.element
    if kind.scalar or not kind.list:
        return None
    return kind.list.element


def _is_atomic(kind: Type) -> bool:
    if kind.map:
        return kind.map.is_atomic and not (kind.map.element is DEDUCED and not kind.map.fields)
    return not kind.scalar and kind.list is not None and not kind.list.is_associative
