"""Whether a CRD's schema is structural: every field that a condition speaks of has a type of its own.

Pruning, defaulting and apply read the types; `allOf`, `anyOf`, `oneOf` and `not` only judge values. So
a type may not hide inside them. These are also the texts of the condition NonStructuralSchema.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubevirt.apiserver.schema.field_errors import FieldError, forbidden, invalid, required
from kubevirt.apiserver.schema.validation import is_pattern

Source = Mapping[str, Any]

_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]

_ROOT, _ITEM, _FIELD = "root", "item", "field"
_TYPE_MISSING: Final = {
    _ROOT: "must not be empty at the root",
    _ITEM: "must not be empty for specified array items",
    _FIELD: "must not be empty for specified object fields",
}
_FORBIDDEN_IN_CONDITIONS: Final = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_EMPTY: Final[tuple[Any, ...]] = (None, "", False, [], ())


def violations(source: Source, path: str) -> list[FieldError]:
    """In the order of their texts, as Kubernetes gives them."""
    found = [*_invariants(source, _ROOT, path), *_incomplete(source, source, path, path)]
    return sorted(found, key=str)


def _invariants(source: Source, level: str, path: str) -> Iterator[FieldError]:
    kind = source.get("type", "")
    items = source.get("items")
    if kind == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, _ITEM, f"{path}.items")
    for name, child in source.get("properties", {}).items():
        yield from _invariants(child, _FIELD, f"{path}.properties[{name}]")
    additional = source.get("additionalProperties")
    if additional is not None:
        if level == _ROOT:
            yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
        if isinstance(additional, dict):
            yield from _invariants(additional, _FIELD, f"{path}.additionalProperties")
    yield from _extensions(source, path)
    is_any = source.get("anyOf") == _INT_OR_STRING
    all_of = source.get("allOf") or [{}]
    is_first_all = all_of[0].get("anyOf") == _INT_OR_STRING
    yield from _conditions(source, path, skip_any=is_any, skip_first_all=is_first_all)
    yield from _types(source, level, path)
    yield from _object_fields(source, level, path)


def _extensions(source: Source, path: str) -> Iterator[FieldError]:
    if not source.get("x-kubernetes-int-or-string"):
        return
    for name in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if source.get(name):
            words = "must be false if x-kubernetes-int-or-string is true"
            yield invalid(f"{path}.{name}", True, words)


def _types(source: Source, level: str, path: str) -> Iterator[FieldError]:
    kind = source.get("type", "")
    is_embedded = source.get("x-kubernetes-embedded-resource")
    is_open = source.get("x-kubernetes-int-or-string") or source.get(
        "x-kubernetes-preserve-unknown-fields"
    )
    if is_embedded and kind != "object":
        words = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", kind, words) if kind else required(f"{path}.type", words)
    elif not kind and not is_open:
        yield required(f"{path}.type", _TYPE_MISSING[level])
    if is_embedded and source.get("additionalProperties") is not None:
        words = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(f"{path}.additionalProperties", words)
    if level == _ROOT and kind not in ("", "object"):
        yield invalid(f"{path}.type", kind, "must be object at the root")


def _object_fields(source: Source, level: str, path: str) -> Iterator[FieldError]:
    """apiVersion, kind and metadata are known; a schema may only narrow names."""
    properties = source.get("properties", {})
    is_embedded = source.get("x-kubernetes-embedded-resource")
    is_object = level == _ROOT or is_embedded
    for name in ("kind", "apiVersion"):
        if is_object and name in properties and properties[name].get("type", "") != "string":
            kind = properties[name].get("type", "")
            yield invalid(f"{path}.properties[{name}].type", kind, "must be string")
    metadata = properties.get("metadata")
    if metadata is not None:
        at = f"{path}.properties[metadata]"
        if is_object and metadata.get("type", "") != "object":
            yield invalid(f"{at}.type", metadata.get("type", ""), "must be object")
        if level == _ROOT and not _only_narrows_names(metadata):
            words = "must not specify anything other than name and generateName"
            yield forbidden(at, f"{words}, but metadata is implicitly specified")
    if is_embedded and not source.get("x-kubernetes-preserve-unknown-fields") and not properties:
        words = "must not be empty if x-kubernetes-embedded-resource is true"
        words = f"{words} without x-kubernetes-preserve-unknown-fields"
        yield required(f"{path}.properties", words)


def _only_narrows_names(metadata: Source) -> bool:
    said = {
        name for name, value in metadata.items() if value not in _EMPTY and name != "description"
    }
    names = set(metadata.get("properties", {}))
    return said <= {"type", "properties", "default"} and names <= {"name", "generateName"}


def _conditions(
    source: Source, path: str, *, skip_any: bool = False, skip_first_all: bool = False
) -> Iterator[FieldError]:
    if not skip_any:
        for index, each in enumerate(source.get("anyOf") or ()):
            yield from _condition(each, f"{path}.anyOf[{index}]")
    for index, each in enumerate(source.get("allOf") or ()):
        skips = skip_first_all and index == 0
        yield from _condition(each, f"{path}.allOf[{index}]", skip_any=skips)
    for index, each in enumerate(source.get("oneOf") or ()):
        yield from _condition(each, f"{path}.oneOf[{index}]")
    if source.get("not") is not None:
        yield from _condition(source["not"], f"{path}.not")
    pattern = source.get("pattern")
    if pattern and not is_pattern(pattern):
        words = "must be a valid regular expression, but isn't: error parsing regexp"
        yield invalid(f"{path}.pattern", pattern, words)


def _condition(source: Source, path: str, *, skip_any: bool = False) -> Iterator[FieldError]:
    yield from _conditions(source, path, skip_any=skip_any)
    if isinstance(source.get("items"), dict):
        yield from _condition(source["items"], f"{path}.items")
    for name, child in source.get("properties", {}).items():
        yield from _condition(child, f"{path}.properties[{name}]")
    for name, words in _FORBIDDEN_IN_CONDITIONS.items():
        value = source.get(name)
        # A default says something even where it is false, zero or empty.
        if value is not None and (name == "default" or value not in _EMPTY):
            yield forbidden(f"{path}.{name}", words)
    if "metadata" in source.get("properties", {}):
        words = "must not be specified in a nested context"
        yield forbidden(f"{path}.properties[metadata]", words)


def _incomplete(
    condition: Source, structure: Source | None, at: str, path: str
) -> Iterator[FieldError]:
    """What a condition speaks of must be in the structure as well."""
    for name in ("allOf", "anyOf", "oneOf"):
        for index, each in enumerate(condition.get(name) or ()):
            yield from _incomplete_below(each, structure, at, f"{path}.{name}[{index}]")
    if condition.get("not") is not None:
        yield from _incomplete_below(condition["not"], structure, at, f"{path}.not")


def _incomplete_below(
    condition: Source, structure: Source | None, at: str, path: str
) -> Iterator[FieldError]:
    if structure is None:
        yield required(at, f"because it is defined in {path}")
        return
    yield from _incomplete(condition, structure, at, path)
    if isinstance(condition.get("items"), dict):
        items = structure.get("items")
        yield from _incomplete_below(condition["items"], items, f"{at}.items", f"{path}.items")
    properties = structure.get("properties", {})
    for name, child in condition.get("properties", {}).items():
        below, inside = f"{at}.properties[{name}]", f"{path}.properties[{name}]"
        if name not in properties:
            yield required(below, f"because it is defined in {inside}")
        else:
            yield from _incomplete_below(child, properties[name], below, inside)
