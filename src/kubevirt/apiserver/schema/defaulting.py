"""Filling in what a schema defaults, and dropping nulls that stand for nothing.

Both give the object itself where nothing is to be done. A default is shared between all objects
that got it: nobody changes values in place.
"""

from typing import Any

from msgspec import UNSET

from kubevirt.apiserver.schema.structural import Schema


def default(value: Any, schema: Schema | None) -> Any:
    if schema is None or not schema.has_defaults:
        return value
    if isinstance(value, dict):
        return _default_fields(value, schema)
    if isinstance(value, list) and schema.items is not None:
        items = [_default_or_null(item, schema.items) for item in value]
        return items if _differ(items, value) else value
    return value


def _default_fields(value: dict[str, Any], schema: Schema) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name, child in schema.properties.items():
        if not child.has_defaults:
            continue
        before = value.get(name, UNSET)
        after = before
        if child.default is not UNSET and (
            before is UNSET or (before is None and not child.nullable)
        ):
            after = child.default
        if after is not UNSET:
            after = default(after, child)
        if after is not before:
            changed[name] = after
    if isinstance(schema.additional, Schema):
        for name, before in value.items():
            if name not in schema.properties:
                after = _default_or_null(before, schema.additional)
                if after is not before:
                    changed[name] = after
    return {**value, **changed} if changed else value


def _default_or_null(value: Any, schema: Schema) -> Any:
    if value is None and not schema.nullable and schema.default is not UNSET:
        value = schema.default
    return default(value, schema)


def drop_nulls(value: Any, schema: Schema | None) -> Any:
    """Without nulls that the schema does not allow and that no default replaces."""
    if schema is None:
        return value
    if isinstance(value, dict):
        kept = {}
        is_same = True
        for name, before in value.items():
            known = schema.for_field(name)
            if before is None:
                if known is not None and not known.nullable and known.default is UNSET:
                    is_same = False
                    continue
                after = before
            elif before.__class__ is dict or before.__class__ is list:
                after = drop_nulls(before, known)
                is_same = is_same and after is before
            else:
                after = before
            kept[name] = after
        return value if is_same else kept
    if isinstance(value, list):
        items = [drop_nulls(item, schema.items) for item in value]
        return items if _differ(items, value) else value
    return value


def _differ(one: list[Any], other: list[Any]) -> bool:
    return any(a is not b for a, b in zip(one, other, strict=True))
