"""The schema of `metadata`, which no CRD may write: it is the same for every kind."""

from typing import Any, Final

from kubevirt.apiserver.schema.structural import Schema, compile_schema

_STRING: Final = {"type": "string"}
_TIME: Final = {"type": "string", "format": "date-time"}
_INTEGER: Final = {"type": "integer", "format": "int64"}
_STRINGS_BY_NAME: Final = {"type": "object", "additionalProperties": _STRING}

_OWNER_REFERENCE: Final = {
    "type": "object",
    "required": ["apiVersion", "kind", "name", "uid"],
    "x-kubernetes-map-type": "atomic",
    "properties": {
        "apiVersion": _STRING,
        "blockOwnerDeletion": {"type": "boolean"},
        "controller": {"type": "boolean"},
        "kind": _STRING,
        "name": _STRING,
        "uid": _STRING,
    },
}

_MANAGED_FIELDS_ENTRY: Final = {
    "type": "object",
    "properties": {
        "apiVersion": _STRING,
        "fieldsType": _STRING,
        "fieldsV1": {"type": "object"},
        "manager": _STRING,
        "operation": _STRING,
        "subresource": _STRING,
        "time": _TIME,
    },
}

OBJECT_META_SOURCE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "annotations": _STRINGS_BY_NAME,
        "creationTimestamp": _TIME,
        "deletionGracePeriodSeconds": _INTEGER,
        "deletionTimestamp": _TIME,
        "finalizers": {
            "type": "array",
            "items": _STRING,
            "x-kubernetes-list-type": "set",
            "x-kubernetes-patch-strategy": "merge",
        },
        "generateName": _STRING,
        "generation": _INTEGER,
        "labels": _STRINGS_BY_NAME,
        "managedFields": {
            "type": "array",
            "items": _MANAGED_FIELDS_ENTRY,
            "x-kubernetes-list-type": "atomic",
        },
        "name": _STRING,
        "namespace": _STRING,
        "ownerReferences": {
            "type": "array",
            "items": _OWNER_REFERENCE,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "x-kubernetes-patch-merge-key": "uid",
            "x-kubernetes-patch-strategy": "merge",
        },
        "resourceVersion": _STRING,
        "selfLink": _STRING,
        "uid": _STRING,
    },
}

OBJECT_META: Final[Schema] = compile_schema(OBJECT_META_SOURCE)
