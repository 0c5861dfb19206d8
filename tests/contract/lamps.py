"""Lamps: a custom resource with what a custom resource may have, and the kinds that tests use."""

from typing import Any

import msgspec

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource

CONFIG_MAPS: Resource[dict[str, Any]] = Resource(
    "", "v1", "configmaps", "ConfigMap", True, dict[str, Any]
)
PODS: Resource[dict[str, Any]] = Resource("", "v1", "pods", "Pod", True, dict[str, Any])
LAMPS: Resource[dict[str, Any]] = Resource(
    "house.example", "v1", "lamps", "Lamp", True, dict[str, Any]
)
OLD_LAMPS: Resource[dict[str, Any]] = Resource(
    "house.example", "v1alpha1", "lamps", "Lamp", True, dict[str, Any]
)


class ConfigMap(msgspec.Struct):
    """As much of one as these tests read."""

    metadata: ObjectMeta
    data: dict[str, str] = {}


TYPED_CONFIG_MAPS = CONFIG_MAPS.read_as(ConfigMap)

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["watts"],
            "properties": {
                "watts": {"type": "integer", "minimum": 1, "maximum": 100},
                "bulbs": {"type": "integer"},
                "colours": {"type": "array", "items": {"type": "string"}},
            },
        },
        "status": {
            "type": "object",
            "properties": {"lit": {"type": "boolean"}, "bulbs": {"type": "integer"}},
        },
    },
}
_SUBRESOURCES = {
    "status": {},
    "scale": {"specReplicasPath": ".spec.bulbs", "statusReplicasPath": ".status.bulbs"},
}


def _version(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "served": True,
        "storage": False,
        "schema": {"openAPIV3Schema": _SCHEMA},
        "subresources": _SUBRESOURCES,
        **more,
    }


LAMP_CRD: dict[str, Any] = {
    "metadata": {"name": "lamps.house.example"},
    "spec": {
        "group": "house.example",
        "scope": "Namespaced",
        "names": {"plural": "lamps", "singular": "lamp", "kind": "Lamp", "listKind": "LampList"},
        "versions": [
            _version("v1", storage=True),
            _version("v1alpha1", deprecated=True, deprecationWarning="light the v1 lamp instead"),
        ],
    },
}


def a_lamp(name: str, watts: int = 40, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"watts": watts, **spec}}


def a_config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels or {}}, "data": data}


def a_pod(name: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    """One that no node will ever run."""
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            "containers": [{"name": "main", "image": "nothing"}],
            "terminationGracePeriodSeconds": 0,
        },
    }
