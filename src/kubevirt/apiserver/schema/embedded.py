"""Objects inside objects: `x-kubernetes-embedded-resource`.

They have apiVersion, kind and metadata as every object has, and these are read and judged alike.
"""

from collections.abc import Iterator
from typing import Any

from kubevirt.apiserver.schema import metadata, names
from kubevirt.apiserver.schema.field_errors import FieldError, invalid, required
from kubevirt.apiserver.schema.structural import Schema


def read(value: Any, schema: Schema | None, path: str = "") -> tuple[Any, list[str]]:
    """With the metadata of embedded objects as it is read, and the paths of what was unknown.
    Raises `metadata.Undecodable`.
    """
    unknown: list[str] = []
    if schema is None or not schema.has_embedded:
        return value, unknown
    return _read(value, schema, path, unknown), unknown


def _read(value: Any, schema: Schema, path: str, unknown: list[str]) -> Any:
    if isinstance(value, list):
        if schema.items is None or not schema.items.has_embedded:
            return value
        items = schema.items
        return [_read(item, items, f"{path}[{i}]", unknown) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    made = dict(value)
    for name, child in value.items():
        below = f"{path}.{name}" if path else name
        if schema.embedded and name in ("apiVersion", "kind") and not isinstance(child, str):
            raise metadata.Undecodable(str(invalid(below, child, "must be a string")))
        if schema.embedded and name == "metadata":
            try:
                made[name], dropped = metadata.read(child, below)
            except metadata.Undecodable as error:
                raise metadata.Undecodable(str(invalid(below, child, str(error)))) from error
            unknown += dropped
            continue
        known = schema.for_field(name)
        if known is not None and known.has_embedded:
            made[name] = _read(child, known, below, unknown)
    return made


def errors(value: Any, schema: Schema | None, path: str = "") -> list[FieldError]:
    if schema is None or not schema.has_embedded:
        return []
    return list(_errors(value, schema, path))


def _errors(value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
    if isinstance(value, list):
        if schema.items is not None and schema.items.has_embedded:
            for index, item in enumerate(value):
                yield from _errors(item, schema.items, f"{path}[{index}]")
        return
    if not isinstance(value, dict):
        return
    if schema.embedded:
        yield from _errors_of_object(value, path)
    for name, child in value.items():
        known = schema.for_field(name)
        if known is not None and known.has_embedded:
            below = f"{path}.{name}" if name in schema.properties else f"{path}[{name}]"
            yield from _errors(child, known, below.removeprefix("."))


def _errors_of_object(value: dict[str, Any], path: str) -> Iterator[FieldError]:
    for name in ("apiVersion", "kind"):
        text = value.get(name)
        if name not in value:
            yield required(f"{path}.{name}")
        elif not isinstance(text, str):
            yield invalid(f"{path}.{name}", text, "must be a string")
        elif not text:
            yield invalid(f"{path}.{name}", text, "must not be empty")
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and version.count("/") > 1:
        words = f"unexpected GroupVersion string: {version}"
        yield invalid(f"{path}.apiVersion", version, words)
    if isinstance(kind, str) and kind and (wrong := names.label_1035(kind.lower())):
        words = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        yield invalid(f"{path}.kind", kind, words)
    meta = value.get("metadata")
    if isinstance(meta, dict):
        yield from metadata.errors_of_new(
            {"name": "fakename", **meta},
            is_namespaced=bool(meta.get("namespace")),
            name_rule=names.path_segment,
            path=f"{path}.metadata",
        )
