"""What the author of a CRD's schema did wrong, said when the CRD is written.

`structurality` looks whether the schema can be used at all. Here is the rest: words that Kubernetes
does not support, list and map types that contradict themselves, defaults that break their own
schema, rules that do not compile.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubevirt.apiserver.schema import field_errors, field_paths, rule_authoring, structurality
from kubevirt.apiserver.schema.defaulting import default
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
)
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.schema.pruning import prune_value
from kubevirt.apiserver.schema.structural import compile_schema
from kubevirt.apiserver.schema.validation import Validation

Source = Mapping[str, Any]

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_NOT_SUPPORTED: Final = (
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
)
_OF_EVERY_OBJECT: Final = ("apiVersion", "kind", "metadata")


def errors(source: Source, path: str) -> list[FieldError]:
    """`path` is where the schema stands: `spec.versions[0].schema.openAPIV3Schema`."""
    found = structurality.violations(source, path)
    if source.get("nullable"):
        found.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    schema_errors = list(_wrong(source, path, is_root=True))
    if not found and not schema_errors:
        found += _defaults(source, path)
    if not found and not schema_errors:
        found += rule_authoring.errors(source, path)
    return found + schema_errors


def _wrong(
    source: Source, path: str, *, no_default: str = "", is_root: bool = False
) -> Iterator[FieldError]:
    """`no_default` says why there may be none here."""
    yield from _wrong_here(source, path)
    if no_default and source.get("default") is not None:
        yield forbidden(f"{path}.default", f"must not be set {no_default}")
    for name, child in (source.get("properties") or {}).items():
        is_implied = is_root and name in _OF_EVERY_OBJECT
        why = f"in top-level {name}" if is_implied else no_default
        yield from _wrong(child, f"{path}.properties[{name}]", no_default=why)
    for name in ("additionalProperties", "items", "not"):
        if isinstance(source.get(name), dict):
            yield from _wrong(source[name], f"{path}.{name}", no_default=no_default)
    for name in ("allOf", "anyOf", "oneOf"):
        for index, each in enumerate(source.get(name) or ()):
            yield from _wrong(each, f"{path}.{name}[{index}]", no_default=no_default)


def _wrong_here(source: Source, path: str) -> Iterator[FieldError]:
    yield from _words(source, path)
    if source.get("uniqueItems"):
        words = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", words)
    additional = source.get("additionalProperties")
    if additional not in (None, True) and source.get("properties"):
        words = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{path}.additionalProperties", words)
    yield from _map_type(source, path)
    yield from _list_type(source, path)
    yield from _rule_texts(source, path)


def _words(source: Source, path: str) -> Iterator[FieldError]:
    kind = source.get("type", "")
    if kind and kind not in _TYPES:
        yield field_errors.not_supported(f"{path}.type", kind, _TYPES)
    for name in _NOT_SUPPORTED:
        if source.get(name):
            yield forbidden(f"{path}.{name}", f"{name} is not supported")
    if source.get("$ref") is not None:
        yield forbidden(f"{path}.$ref", "$ref is not supported")
    if kind == "null":
        words = "type cannot be set to null, use nullable as an alternative"
        yield forbidden(f"{path}.type", words)
    if isinstance(source.get("items"), list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    if source.get("x-kubernetes-preserve-unknown-fields") is False:
        at = f"{path}.x-kubernetes-preserve-unknown-fields"
        yield invalid(at, False, "must be true or undefined")


def _map_type(source: Source, path: str) -> Iterator[FieldError]:
    map_type = source.get("x-kubernetes-map-type")
    if map_type is None:
        return
    yield from _must_be(source, "object", "x-kubernetes-map-type", path)
    if map_type not in ("atomic", "granular"):
        at = f"{path}.x-kubernetes-map-type"
        yield field_errors.not_supported(at, map_type, ("atomic", "granular"))


def _must_be(source: Source, wanted: str, because: str, path: str) -> Iterator[FieldError]:
    kind = source.get("type", "")
    if kind != wanted:
        words = f"must be {wanted} if {because} is specified"
        yield invalid(f"{path}.type", kind, words) if kind else required(f"{path}.type", words)


def _list_type(source: Source, path: str) -> Iterator[FieldError]:
    list_type, keys = source.get("x-kubernetes-list-type"), source.get("x-kubernetes-list-map-keys")
    at = f"{path}.x-kubernetes-list-type"
    if keys and list_type != "map":
        words = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield required(at, words) if list_type is None else invalid(at, list_type, words)
    if list_type is None:
        return
    yield from _must_be(source, "array", "x-kubernetes-list-type", path)
    if list_type not in ("atomic", "set", "map"):
        yield field_errors.not_supported(at, list_type, ("atomic", "set", "map"))
    items = source.get("items")
    if list_type == "map":
        yield from _keyed_list(items, keys or [], path)
    if not isinstance(items, dict) or list_type not in ("set", "map"):
        return
    if list_type == "set":
        yield from _set_items(items, path)
    if items.get("nullable"):
        words = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        yield forbidden(f"{path}.items.nullable", words)


def _set_items(items: Source, path: str) -> Iterator[FieldError]:
    words = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield invalid(f"{path}.items.x-kubernetes-list-type", list_type, words)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        yield invalid(f"{path}.items.x-kubernetes-map-type", None, words)


def _keyed_list(items: Any, keys: list[str], path: str) -> Iterator[FieldError]:
    at = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield required(at, "must not be empty if x-kubernetes-list-type is map")
    if not isinstance(items, dict):
        words = "must have a schema if x-kubernetes-list-type is map"
        yield required(f"{path}.items", words)
        return
    if items.get("type") != "object":
        words = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", items.get("type", ""), words)
        return
    properties = items.get("properties", {})
    for place, key in enumerate(keys):
        if key in keys[:place]:
            yield invalid(at, keys, "must not contain duplicate entries")
        if key not in properties:
            yield invalid(at, keys, "entries must all be names of item properties")
            continue
        yield from _key_property(properties[key], key, items, f"{path}.items.properties[{key}]")


def _key_property(source: Source, key: str, items: Source, path: str) -> Iterator[FieldError]:
    because = "this property is in x-kubernetes-list-map-keys, so it"
    if source.get("type") in ("array", "object"):
        words = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.type", "object", words)
    if key not in items.get("required", ()) and source.get("default") is None:
        yield required(
            f"{path}.default", f"{because} must have a default or be a required property"
        )
    if source.get("nullable"):
        yield forbidden(f"{path}.nullable", f"{because} cannot be nullable")


def _rule_texts(source: Source, path: str) -> Iterator[FieldError]:
    for index, rule in enumerate(source.get("x-kubernetes-validations") or ()):
        at = f"{path}.x-kubernetes-validations[{index}]"
        text, message = rule.get("rule", "").strip(), rule.get("message", "")
        if not text:
            yield required(f"{at}.rule", "rule is not specified")
        elif message and not message.strip():
            yield invalid(f"{at}.message", message, "must be non-empty if specified")
        elif "\n" in message.strip():
            yield invalid(f"{at}.message", message, "must not contain line breaks")
        elif "\n" in text and not message:
            words = "message must be specified if rule contains line breaks"
            yield required(f"{at}.message", words)
        reason = rule.get("reason")
        if reason and reason not in _REASONS:
            yield field_errors.not_supported(f"{at}.reason", reason, _REASONS)
        if (field := rule.get("fieldPath")) and not _leads_somewhere(field, source):
            yield invalid(f"{at}.fieldPath", field, "must be a valid path")


def _leads_somewhere(path: str, source: Source) -> bool:
    try:
        field_paths.follow(path, source, brackets=True)
    except field_paths.NoSuchFieldError:
        return False
    return True


def _defaults(source: Source, path: str) -> Iterator[FieldError]:
    """A default must fit its own schema, and say nothing that the schema does not know."""
    if source.get("default") is not None:
        schema = compile_schema(source)
        at = f"{path}.default"
        value = source["default"]
        if not is_same(prune_value(value, schema), value):
            yield invalid(at, value, "must not have unknown fields")
        yield from Validation(schema).errors(default(value, schema), at=at)
    for name, child in (source.get("properties") or {}).items():
        yield from _defaults(child, f"{path}.properties[{name}]")
    if isinstance(source.get("items"), dict):
        yield from _defaults(source["items"], f"{path}.items")
