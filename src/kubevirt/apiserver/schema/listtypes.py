"""Lists whose items must differ: sets, and lists with keys."""

from collections.abc import Iterator
from typing import Any

from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.field_errors import FieldError, duplicate, invalid
from kubevirt.apiserver.schema.structural import Schema


def duplicates(value: Any, schema: Schema | None, path: str = "") -> list[FieldError]:
    """Each item that is there again, once."""
    if schema is None or not schema.has_unique_lists:
        return []
    return list(_errors(value, schema, path))


def _errors(value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
    if isinstance(value, dict):
        for name, child in value.items():
            known = schema.for_field(name)
            if known is not None and known.has_unique_lists:
                yield from _errors(child, known, _below(path, name, schema))
    elif isinstance(value, list):
        if schema.list_type == "set":
            for index in _again([_identity(item) for item in value]):
                yield duplicate(f"{path}[{index}]", value[index])
        elif schema.list_type == "map":
            yield from _same_keys(value, schema, path)
        if schema.items is not None and schema.items.has_unique_lists:
            for index, item in enumerate(value):
                yield from _errors(item, schema.items, f"{path}[{index}]")


def _below(path: str, name: str, schema: Schema) -> str:
    if name not in schema.properties:
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def _same_keys(value: list[Any], schema: Schema, path: str) -> Iterator[FieldError]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            words = "must be an object for an array of list-type map"
            yield invalid(f"{path}[{index}]", item, words)
            return
    keys = [
        {name: item[name] for name in schema.list_keys if item and name in item} for item in value
    ]
    for index in _again([_identity(key) for key in keys]):
        yield duplicate(f"{path}[{index}]", keys[index])


def _again(identities: list[str]) -> Iterator[int]:
    """Where something is seen for the second time."""
    seen: dict[str, int] = {}
    for index, identity in enumerate(identities):
        seen[identity] = seen.get(identity, 0) + 1
        if seen[identity] == 2:
            yield index


def _identity(value: Any) -> str:
    if value.__class__ is str:
        return f'"{value}"'
    # Unlike everywhere else, 1.0 and 1 are two here.
    return gotext.json(value) + ("f" if isinstance(value, float) else "")
