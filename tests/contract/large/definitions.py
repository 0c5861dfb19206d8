"""Large CRDs, written short: types in the notation of the built-in kinds, then conditions by path.

Operators embed what pods, claims and selectors are made of; so do these, from the same tables. Paths go
through lists by `[]` and through maps by `{}`: `spec.solvers[].dns01`.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final

from kubevirt.apiserver.kinds import notation
from kubevirt.apiserver.kinds.builtin import types as builtin_types

Object = dict[str, Any]

QUANTITY: Final[Object] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
    "x-kubernetes-int-or-string": True,
}
CONDITIONS: Final[dict[str, Object]] = {
    "status.conditions": {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    },
    "status.conditions[].type": {"maxLength": 316},
    "status.conditions[].status": {"enum": ["True", "False", "Unknown"]},
    "status.conditions[].reason": {
        "minLength": 1,
        "maxLength": 64,
        "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    },
}


@dataclass(frozen=True)
class Column:
    name: str
    path: str
    type: str = "string"
    priority: int = 0

    @property
    def written(self) -> Object:
        shown = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return {**shown, **({"priority": self.priority} if self.priority else {})}


@dataclass(frozen=True)
class Version:
    name: str
    types: str
    """In the notation; `Spec` and `Status` are the two halves of an object."""
    conditions: Mapping[str, Object]
    """What must hold, by the path that it holds for: parts of a schema that are added there."""
    columns: Sequence[Column] = ()
    selectable: Sequence[str] = ()
    scale: Object | None = None
    more: Object = field(default_factory=dict)
    """Whether it is deprecated, and the like."""

    def written(self, *, storage: bool) -> Object:
        subresources: Object = {"status": {}}
        if self.scale:
            subresources["scale"] = self.scale
        return {
            "name": self.name,
            "served": True,
            "storage": storage,
            "schema": {"openAPIV3Schema": self.schema},
            "subresources": subresources,
            "additionalPrinterColumns": [each.written for each in self.columns],
            "selectableFields": [{"jsonPath": each} for each in self.selectable],
            **self.more,
        }

    @property
    def schema(self) -> Object:
        built_in = builtin_types()
        known = {name: built_in[name] for name in built_in}
        types = notation.Types({**known, **notation.parse(self.types)})
        halves = {"spec": types.schema("Spec"), "status": types.schema("Status")}
        schema = _own(
            {
                "type": "object",
                "properties": {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "metadata": {"type": "object"},
                    **halves,
                },
            }
        )
        for path, part in self.conditions.items():
            _at(schema, path).update(deepcopy(part))
        return schema


def definition(
    group: str, kind: str, plural: str, *versions: Version, scope: str = "Namespaced", **names: Any
) -> Object:
    """The first version is the one that is stored."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "conversion": {"strategy": "None"},
            "names": {
                "plural": plural,
                "singular": kind.lower(),
                "kind": kind,
                "listKind": f"{kind}List",
                **names,
            },
            "versions": [each.written(storage=each is versions[0]) for each in versions],
        },
    }


def fields_of(schema: Mapping[str, Any]) -> int:
    """How many fields a schema has."""
    properties = schema.get("properties", {})
    below = [*properties.values(), schema.get("items"), schema.get("additionalProperties")]
    return len(properties) + sum(fields_of(each) for each in below if isinstance(each, Mapping))


def _own(schema: Object) -> Object:
    """A copy, without what only built-in kinds may say."""
    return {
        name: _own(value) if isinstance(value, dict) else deepcopy(value)
        for name, value in schema.items()
        if not name.startswith("x-kubernetes-patch-")
    }


def _at(schema: Object, path: str) -> Object:
    return reduce(_below, path.replace("[]", ".[]").replace("{}", ".{}").split("."), schema)


def _below(schema: Object, step: str) -> Object:
    if not step:
        return schema
    below: Object = {"[]": schema.get("items"), "{}": schema.get("additionalProperties")}.get(
        step
    ) or schema["properties"][step]
    return below
