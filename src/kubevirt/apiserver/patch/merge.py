"""JSON merge patch (RFC 7386): fields win, nulls remove, lists are replaced."""

from typing import Any

from kubevirt.apiserver.patch.errors import BadPatch
from kubevirt.apiserver.schema.gotext import kind_of

Object = dict[str, Any]


def merge(object_: Object, patch: Any) -> Object:
    """The object itself where the patch says nothing new. Raises `BadPatch`."""
    if patch is None:
        raise BadPatch("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise BadPatch(
            f"error decoding patch: json: cannot unmarshal {kind_of(patch)}"
            " into Go value of type map[string]interface {}"
        )
    return _merged(object_, patch)


def _merged(old: Object, patch: Object) -> Object:
    merged = dict(old)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
            continue
        before = old.get(name)
        if not isinstance(before, dict):
            merged[name] = _without_nulls(value)
        elif isinstance(value, dict):
            merged[name] = _merged(before, value)
        else:
            merged[name] = value
    return merged


def _without_nulls(value: Any) -> Any:
    """Of a value that comes whole: a null in it removes nothing and is left out. Lists keep theirs."""
    if isinstance(value, dict):
        return {name: _without_nulls(child) for name, child in value.items() if child is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
