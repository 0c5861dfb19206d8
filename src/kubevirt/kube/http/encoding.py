"""From objects to bytes: bodies that a server takes.

The server wants to be told what an object is, while in a program its type says it; so the kind and
version are added here, from the resource that is written to.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubevirt.api.resource import Resource


def data_of(value: Any) -> Any:
    """Plain JSON data: structs become dicts without their defaults."""
    return msgspec.to_builtins(value, enc_hook=_mapping, str_keys=True)


def body_of(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=_mapping)


def object_of(value: Any, resource: Resource[Any]) -> dict[str, Any]:
    """A whole object, with its kind and version."""
    data = data_of(value)
    if not isinstance(data, dict):
        raise TypeError(f"an object of {resource.group_resource} is a mapping, not {type(value)}")
    return {
        **data,
        "apiVersion": data.get("apiVersion") or resource.api_version,
        "kind": data.get("kind") or resource.kind,
    }


def _mapping(value: object) -> object:
    """Read-only mappings stand for absent ones in our types."""
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"{type(value)} has no place in an API object")
