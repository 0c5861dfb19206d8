"""Kinds that CRDs define: a CRD read as a `Kind`, and what the server says about it.

Schemas stay the bytes that they were stored as until somebody writes to the kind or asks to have it
explained: most kinds are only read.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from kubevirt.apiserver.kinds.discovery import version_rank
from kubevirt.apiserver.kinds.kind import Column, Kind, Names, Schema, Version

Object = dict[str, Any]

VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""In the order in which Kubernetes tells them."""


class _Names(msgspec.Struct, rename="camel"):
    plural: str
    kind: str
    singular: str = ""
    list_kind: str = ""
    short_names: list[str] | None = None
    categories: list[str] | None = None


class _Scale(msgspec.Struct, rename="camel"):
    spec_replicas_path: str
    status_replicas_path: str
    label_selector_path: str | None = None


class _Subresources(msgspec.Struct):
    status: dict[str, Any] | None = None
    scale: _Scale | None = None


class _Column(msgspec.Struct, rename="camel"):
    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


class _Schema(msgspec.Struct):
    open_api: msgspec.Raw = msgspec.field(name="openAPIV3Schema", default=msgspec.Raw(b"{}"))


class _Selectable(msgspec.Struct, rename="camel"):
    json_path: str


class _Version(msgspec.Struct, rename="camel"):
    name: str
    served: bool = False
    storage: bool = False
    deprecated: bool = False
    deprecation_warning: str | None = None
    schema: _Schema | None = None
    subresources: _Subresources | None = None
    additional_printer_columns: list[_Column] | None = None
    selectable_fields: list[_Selectable] | None = None


class _Spec(msgspec.Struct):
    group: str
    scope: str
    names: _Names
    versions: list[_Version]


class _Metadata(msgspec.Struct, rename="camel"):
    generation: int = 0
    deletion_timestamp: str | None = None


class _Condition(msgspec.Struct):
    type: str
    status: str


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Definition(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec
    status: _Status | None = None


_decoder: Final = msgspec.json.Decoder(_Definition)


class Scale(msgspec.Struct, frozen=True):
    """Where the numbers of a scale are in the object."""

    spec: tuple[str, ...]
    status: tuple[str, ...]
    selector: tuple[str, ...] = ()


class CustomKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind, with what only custom ones have."""

    kind: Kind
    scales: Mapping[str, Scale] = {}
    """By version."""
    generation: int = 0
    """Of the CRD: another one is another kind."""
    is_established: bool = False
    is_going: bool = False
    """Its CRD is being deleted: no new objects."""


def read(value: bytes) -> CustomKind:
    """A CRD as it lies in the store."""
    definition = _decoder.decode(value)
    spec = definition.spec
    conditions = (definition.status.conditions if definition.status else None) or []
    return CustomKind(
        kind=_kind(spec),
        scales={
            each.name: _scale(each.subresources.scale)
            for each in spec.versions
            if each.subresources and each.subresources.scale
        },
        generation=definition.metadata.generation,
        is_established=any(
            each.type == "Established" and each.status == "True" for each in conditions
        ),
        is_going=definition.metadata.deletion_timestamp is not None,
    )


def _kind(spec: _Spec) -> Kind:
    names = spec.names
    return Kind(
        group=spec.group,
        names=Names(
            plural=names.plural,
            singular=names.singular or names.kind.lower(),
            kind=names.kind,
            list_kind=names.list_kind or f"{names.kind}List",
            short=tuple(names.short_names or ()),
            categories=tuple(names.categories or ()),
        ),
        namespaced=spec.scope == "Namespaced",
        versions=tuple(
            sorted(
                (_version(each, spec) for each in spec.versions),
                key=lambda each: version_rank(each.name),
            )
        ),
        verbs=VERBS,
        is_custom=True,
    )


def _version(version: _Version, spec: _Spec) -> Version:
    below = version.subresources or _Subresources()
    schema = bytes(version.schema.open_api) if version.schema else b"{}"
    return Version(
        name=version.name,
        schema=partial(_decoded, schema),
        columns=tuple(_column(each) for each in version.additional_printer_columns or ()),
        subresources=tuple(
            name for name in ("status", "scale") if getattr(below, name) is not None
        ),
        served=version.served,
        storage=version.storage,
        warning=_warning(version, spec),
        selectable=tuple(each.json_path for each in version.selectable_fields or ()),
    )


def _decoded(schema: bytes) -> Schema:
    found: Schema = msgspec.json.decode(schema)
    return found


def _warning(version: _Version, spec: _Spec) -> str:
    if not version.deprecated:
        return ""
    return version.deprecation_warning or (
        f"{spec.group}/{version.name} {spec.names.kind} is deprecated"
    )


def _column(column: _Column) -> Column:
    return Column(
        name=column.name,
        type=column.type,
        format=column.format,
        description=column.description,
        priority=column.priority,
        json_path=column.json_path,
    )


def _scale(scale: _Scale) -> Scale:
    return Scale(
        spec=_path(scale.spec_replicas_path),
        status=_path(scale.status_replicas_path),
        selector=_path(scale.label_selector_path or ""),
    )


def _path(text: str) -> tuple[str, ...]:
    return tuple(text.removeprefix(".").split(".")) if text else ()


# What the server says about a CRD


def judged(object_: Object, others: Iterable[Kind], now: str) -> Object:
    """The CRD with its conditions and the names that were accepted."""
    spec, status = object_["spec"], object_.get("status") or {}
    taken = _taken(spec, others)
    conditions = list(status.get("conditions") or [])
    if taken:
        conditions = _with(conditions, "NamesAccepted", "False", *taken, now)
        is_new = not any(each["type"] == "Established" for each in conditions)
        if is_new:
            words = ("NotAccepted", "not all names are accepted")
            conditions = _with(conditions, "Established", "False", *words, now)
        names = status.get("acceptedNames") or {"plural": "", "kind": ""}
    else:
        words = ("NoConflicts", "no conflicts found")
        conditions = _with(conditions, "NamesAccepted", "True", *words, now)
        words = ("InitialNamesAccepted", "the initial names have been accepted")
        conditions = _with(conditions, "Established", "True", *words, now)
        names = {name: value for name, value in spec["names"].items() if value}
    return {**object_, "status": {**status, "conditions": conditions, "acceptedNames": names}}


def _taken(spec: Object, others: Iterable[Kind]) -> tuple[str, str] | None:
    """Reason and message, if another kind of the group goes by one of the names."""
    names = spec["names"]
    for other in others:
        if other.group != spec["group"] or other.names.plural == names["plural"]:
            continue
        used = {other.names.plural, other.names.singular, *other.names.short}
        for field, reason in (("singular", "Singular"), ("plural", "Plural")):
            if names.get(field) in used:
                return f"{reason}Conflict", f'"{names[field]}" is already in use'
        for short in names.get("shortNames") or ():
            if short in used:
                return "ShortNamesConflict", f'"{short}" is already in use'
        kinds = {other.names.kind, other.names.list_kind}
        for field, reason in (("kind", "Kind"), ("listKind", "ListKind")):
            if names.get(field) in kinds:
                return f"{reason}Conflict", f'"{names[field]}" is already in use'
    return None


def _with(
    conditions: list[Object], type_: str, status: str, reason: str, message: str, now: str
) -> list[Object]:
    """The time of a condition is that of its last change."""
    made = {"type": type_, "status": status, "reason": reason, "message": message}
    for place, each in enumerate(conditions):
        if each["type"] == type_:
            is_same = each["status"] == status
            made["lastTransitionTime"] = each["lastTransitionTime"] if is_same else now
            return [*conditions[:place], made, *conditions[place + 1 :]]
    return [*conditions, {**made, "lastTransitionTime": now}]


def terminating(object_: Object, now: str) -> Object:
    """A CRD whose objects are being deleted."""
    status = object_.get("status") or {}
    words = ("InstanceDeletionInProgress", "CustomResource deletion is in progress")
    conditions = _with(list(status.get("conditions") or []), "Terminating", "True", *words, now)
    return {**object_, "status": {**status, "conditions": conditions}}
