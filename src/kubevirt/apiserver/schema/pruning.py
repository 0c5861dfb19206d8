"""Dropping what a schema does not know, and saying what was dropped.

The result shares every part that lost nothing with the object. Paths are Kubernetes' own
(`spec.list[0].x`), for `unknown field "…"` in strict decoding.
"""

from typing import Any

from kubevirt.apiserver.schema.structural import Schema

_OF_EVERY_OBJECT = ("apiVersion", "kind", "metadata")


def prune(object_: dict[str, Any], schema: Schema | None) -> tuple[dict[str, Any], list[str]]:
    """Of a whole object: apiVersion, kind and metadata are known in any case."""
    walk = _Pruning()
    pruned = walk.fields(object_, schema, "", is_object=True)
    return pruned, sorted(walk.dropped)


def prune_value(value: Any, schema: Schema) -> Any:
    """Of a part, such as a default."""
    return _Pruning().value(value, schema, "")


def is_clean(object_: dict[str, Any], schema: Schema) -> bool:
    """Certainly without unknown fields and without nulls: most objects are, and need no more work."""
    return _is_clean(object_, schema, is_object=True)


def _is_clean(value: dict[str, Any], schema: Schema, *, is_object: bool) -> bool:
    properties = schema.properties
    for name, child in value.items():
        if is_object and name in _OF_EVERY_OBJECT:
            continue
        known = properties.get(name) or schema.for_field(name)
        if known is None:
            if schema.additional is None and schema.preserve_unknown:
                continue
            return False
        if child.__class__ is not str and not _value_is_clean(child, known):
            return False
    return True


def _value_is_clean(value: Any, schema: Schema | None) -> bool:
    if value.__class__ is dict:
        return schema is not None and _is_clean(value, schema, is_object=schema.embedded)
    if value.__class__ is list:
        items = schema.items if schema else None
        return all(_value_is_clean(item, items) for item in value)
    return value is not None


class _Pruning:
    def __init__(self) -> None:
        self.dropped: list[str] = []

    def value(self, value: Any, schema: Schema | None, path: str) -> Any:
        if isinstance(value, dict):
            return self.fields(value, schema, path, is_object=bool(schema and schema.embedded))
        if isinstance(value, list):
            return self._items(value, schema, path)
        return value

    def fields(
        self, value: dict[str, Any], schema: Schema | None, path: str, *, is_object: bool
    ) -> dict[str, Any]:
        properties = schema.properties if schema else {}
        additional = schema.additional if schema else None
        keeps = bool(schema and schema.preserve_unknown)
        changed: dict[str, Any] = {}
        dropped: list[str] = []
        for name, child in value.items():
            if is_object and name in _OF_EVERY_OBJECT:
                continue
            known = properties.get(name)
            if known is None:
                if additional is None:
                    if not keeps:
                        dropped.append(name)
                    continue
                known = additional if isinstance(additional, Schema) else None
            if child.__class__ is dict or child.__class__ is list:
                below = self.value(child, known, f"{path}.{name}" if path else name)
                if below is not child:
                    changed[name] = below
        if dropped:
            self.dropped += [f"{path}.{name}" if path else name for name in dropped]
            gone = set(dropped)
            return {
                name: changed.get(name, child) for name, child in value.items() if name not in gone
            }
        return {**value, **changed} if changed else value

    def _items(self, value: list[Any], schema: Schema | None, path: str) -> list[Any]:
        items = schema.items if schema else None
        if schema and schema.preserve_unknown:
            if items is None:
                return value
            walk = self._kept
        else:
            walk = self.value
        pruned = [walk(item, items, f"{path}[{index}]") for index, item in enumerate(value)]
        return pruned if any(a is not b for a, b in zip(pruned, value, strict=True)) else value

    def _kept(self, value: Any, schema: Schema | None, path: str) -> Any:
        """An item of a list that keeps unknown fields keeps them too, but not below its known ones."""
        if isinstance(value, list):
            items = schema.items if schema else None
            pruned = [self._kept(each, items, f"{path}[{i}]") for i, each in enumerate(value)]
            return pruned if any(a is not b for a, b in zip(pruned, value, strict=True)) else value
        if not isinstance(value, dict) or schema is None:
            return value
        changed = {}
        for name, child in value.items():
            if schema.embedded and name in _OF_EVERY_OBJECT:
                continue
            known = schema.properties.get(name)
            if known is None:
                if schema.additional is None:
                    continue
                known = schema.additional if isinstance(schema.additional, Schema) else None
            below = self.value(child, known, f"{path}.{name}")
            if below is not child:
                changed[name] = below
        return {**value, **changed} if changed else value
