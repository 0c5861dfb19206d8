"""Racks: a custom resource with every way that lists and maps can merge."""

from typing import Any

from kubevirt.api.resource import Resource

GROUP = "rack.example"
API_VERSION = f"{GROUP}/v1"
RACKS: Resource[dict[str, Any]] = Resource(GROUP, "v1", "racks", "Rack", True, dict[str, Any])

_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}

_PORT = {
    "type": "object",
    "required": ["port", "protocol"],
    "properties": {
        "port": _INTEGER,
        "protocol": {"type": "string", "default": "TCP"},
        "name": _STRING,
        "options": {"type": "object", "properties": {"a": _STRING, "b": _STRING}},
        "hosts": {"type": "array", "items": _STRING, "x-kubernetes-list-type": "set"},
    },
}
_UNIT = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": _STRING,
        "height": _INTEGER,
        "notes": {"type": "object", "additionalProperties": _STRING},
        "ports": {
            "type": "array",
            "items": _PORT,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
        },
    },
}
SPEC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "size": _INTEGER,
        "title": _STRING,
        "locked": {"type": "boolean"},
        "load": {"type": "number"},
        "either": {"x-kubernetes-int-or-string": True},
        "room": {"type": "string", "default": "attic"},
        "door": {
            "type": "object",
            "properties": {
                "width": {"type": "integer", "default": 60},
                "colour": _STRING,
                "handle": {"type": "object", "properties": {"side": _STRING, "kind": _STRING}},
            },
        },
        "marks": {"type": "object", "additionalProperties": _STRING},
        "limits": {
            "type": "object",
            "additionalProperties": _INTEGER,
            "x-kubernetes-map-type": "atomic",
        },
        "lease": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "properties": {"from": _STRING, "until": _STRING},
        },
        "tags": {"type": "array", "items": _STRING, "x-kubernetes-list-type": "set"},
        "numbers": {"type": "array", "items": _INTEGER, "x-kubernetes-list-type": "set"},
        "lines": {"type": "array", "items": _STRING},
        "ports": {
            "type": "array",
            "items": _PORT,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
        },
        "units": {
            "type": "array",
            "items": _UNIT,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "grid": {"type": "array", "items": {"type": "array", "items": _INTEGER}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "open": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {
                "known": _STRING,
                "deep": {"type": "object", "properties": {"x": _STRING}},
            },
        },
        "maybe": {"type": "string", "nullable": True},
        "guest": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    },
}
STATUS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "phase": _STRING,
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": _STRING, "status": _STRING, "reason": _STRING},
            },
        },
    },
}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}

RACK_CRD: dict[str, Any] = {
    "metadata": {"name": f"racks.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "racks", "singular": "rack", "kind": "Rack", "listKind": "RackList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {"status": {}},
            },
            {
                "name": "v2",
                "served": True,
                "storage": False,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {"status": {}},
            },
        ],
    },
}


def a_rack(name: str, /, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "Rack",
        "metadata": {"name": name},
        "spec": spec,
    }
