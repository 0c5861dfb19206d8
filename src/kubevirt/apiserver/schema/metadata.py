"""`metadata`, which every object has and no schema describes: read as Go reads it, and judged.

Reading drops what ObjectMeta does not know and what is empty, and refuses what is of a wrong type, in
the words of Go's decoder. Judging gives the errors of fields, for a new object and for a change.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from kubevirt.apiserver.schema import gotext, names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    Verbatim,
    forbidden,
    invalid,
    required,
    too_long,
)
from kubevirt.apiserver.schema.names import NameRule
from kubevirt.base.errors import UserError

ANNOTATIONS_LIMIT: Final = 256 * 1024
IMMUTABLE: Final = "field is immutable"

Metadata = dict[str, Any]


class Undecodable(UserError):  # noqa: N818  # it is what the value is
    """A value that Go could not decode into its field, in Go's words."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="BadRequest")


def read(metadata: Any, path: str = "metadata") -> tuple[Metadata, list[str]]:
    """What ObjectMeta makes of it, and the paths of what it does not know. Raises `Undecodable`."""
    if metadata is None:
        return {}, []
    if not isinstance(metadata, dict):
        has = gotext.kind_of(metadata)
        raise Undecodable(f"json: cannot unmarshal {has} into Go value of type v1.ObjectMeta")
    unknown: list[str] = []
    return _read_struct(metadata, _OBJECT_META, "ObjectMeta", path, unknown), unknown


_OBJECT_META: Final[dict[str, str]] = {
    "annotations": "map[string]string",
    "creationTimestamp": "time",
    "deletionGracePeriodSeconds": "int64",
    "deletionTimestamp": "time",
    "finalizers": "[]string",
    "generateName": "string",
    "generation": "int64",
    "labels": "map[string]string",
    "managedFields": "[]v1.ManagedFieldsEntry",
    "name": "string",
    "namespace": "string",
    "ownerReferences": "[]v1.OwnerReference",
    "resourceVersion": "string",
    "selfLink": "string",
    "uid": "types.UID",
}
_STRUCTS: Final[dict[str, dict[str, str]]] = {
    "v1.OwnerReference": {
        "apiVersion": "string",
        "blockOwnerDeletion": "bool",
        "controller": "bool",
        "kind": "string",
        "name": "string",
        "uid": "types.UID",
    },
    "v1.ManagedFieldsEntry": {
        "apiVersion": "string",
        "fieldsType": "string",
        "fieldsV1": "any",
        "manager": "string",
        "operation": "v1.ManagedFieldsOperationType",
        "subresource": "string",
        "time": "time",
    },
}
_ALWAYS_WRITTEN: Final = {"v1.OwnerReference": ("apiVersion", "kind", "name", "uid")}
_KEPT_WHEN_EMPTY: Final = ("deletionGracePeriodSeconds", "blockOwnerDeletion", "controller")
"""Pointers in Go: zero is said, not left out."""


def _read_struct(
    value: dict[str, Any], fields: dict[str, str], where: str, path: str, unknown: list[str]
) -> dict[str, Any]:
    made = {}
    for name, child in sorted(value.items()):
        kind = fields.get(name)
        if kind is None:
            unknown.append(f"{path}.{name}")
            continue
        if child is None:
            continue
        found = _read_value(child, kind, f"{where}.{name}", f"{path}.{name}", unknown)
        if found not in ("", [], {}) and (found != 0 or name in _KEPT_WHEN_EMPTY):
            made[name] = found
    return made


def _read_value(value: Any, kind: str, where: str, path: str, unknown: list[str]) -> Any:
    if kind == "any":
        return value
    if kind.startswith("[]"):
        items = _expect(value, list, where, kind)
        return [
            _read_item(item, kind[2:], where, f"{path}[{index}]", unknown)
            for index, item in enumerate(items)
        ]
    if kind.startswith("map"):
        pairs = _expect(value, dict, where, kind)
        return {
            name: _expect("" if each is None else each, str, where, "string")
            for name, each in pairs.items()
        }
    if kind == "time":
        return _read_time(_expect(value, str, where, "string"))
    if kind == "int64":
        if isinstance(value, float):
            if value.is_integer():
                return int(value)
            raise _wrong(f"number {gotext.number(value)}", where, kind)
        return _expect(value, int, where, kind)
    return _expect(value, bool if kind == "bool" else str, where, kind)


def _read_item(value: Any, kind: str, where: str, path: str, unknown: list[str]) -> Any:
    fields = _STRUCTS.get(kind)
    if fields is None:
        return _expect("" if value is None else value, str, where, kind)
    if value is None:
        value = {}
    struct = _expect(value, dict, where, kind)
    inner = f"{kind.removeprefix('v1.')}.{where.partition('.')[2]}"
    made = _read_struct(struct, fields, inner, path, unknown)
    return {name: "" for name in _ALWAYS_WRITTEN.get(kind, ()) if name not in made} | made


def _expect(value: Any, type_: type, where: str, kind: str) -> Any:
    if value.__class__ is not type_:
        raise _wrong(gotext.kind_of(value), where, kind)
    return value


def _wrong(has: str, where: str, kind: str) -> Undecodable:
    return Undecodable(f"json: cannot unmarshal {has} into Go struct field {where} of type {kind}")


_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def _read_time(text: str) -> str:
    """In UTC and whole seconds, as Kubernetes writes it."""
    try:
        moment = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
    except ValueError:
        moment = None
    if moment is None:
        layout = "2006-01-02T15:04:05Z07:00"
        raise Undecodable(
            f'parsing time {gotext.quoted(text)} as "{layout}":'
            f' cannot parse {gotext.quoted(text)} as "2006"'
        )
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def errors_of_new(
    metadata: Metadata, *, is_namespaced: bool, name_rule: NameRule, path: str = "metadata"
) -> list[FieldError]:
    found = []
    prefix = metadata.get("generateName", "")
    if prefix:
        wrong = names.as_prefix(name_rule)(prefix)
        found += [invalid(f"{path}.generateName", prefix, words) for words in wrong]
    name = metadata.get("name", "")
    if not name:
        found.append(required(f"{path}.name", "name or generateName is required"))
    else:
        found += [invalid(f"{path}.name", name, words) for words in name_rule(name)]
    namespace = metadata.get("namespace", "")
    if not is_namespaced:
        if namespace:
            found.append(forbidden(f"{path}.namespace", "not allowed on this type"))
    elif not namespace:
        found.append(required(f"{path}.namespace"))
    else:
        found += [
            invalid(f"{path}.namespace", namespace, words) for words in names.label(namespace)
        ]
    if metadata.get("generation", 0) < 0:
        words = "must be greater than or equal to 0"
        found.append(invalid(f"{path}.generation", metadata["generation"], words))
    found += _errors_of_maps(metadata, path)
    found += _errors_of_owners(metadata.get("ownerReferences", []), f"{path}.ownerReferences")
    found += _errors_of_finalizers(metadata.get("finalizers", []), f"{path}.finalizers")
    return found + list(_errors_of_managed(metadata.get("managedFields", []), path))


def errors_of_change(new: Metadata, old: Metadata, path: str = "metadata") -> list[FieldError]:
    found = []
    if old.get("deletionTimestamp"):
        extra = sorted(set(new.get("finalizers", [])) - set(old.get("finalizers", [])))
        if extra:
            shown = "[]string{" + ", ".join(map(gotext.quoted, extra)) + "}"
            words = "no new finalizers can be added if the object is being deleted"
            words = f"{words}, found new finalizers {shown}"
            found.append(forbidden(f"{path}.finalizers", words))
    if not new.get("resourceVersion"):
        words = "must be specified for an update"
        found.append(invalid(f"{path}.resourceVersion", "", words))
    if new.get("generation", 0) < old.get("generation", 0):
        words = "must not be decremented"
        found.append(invalid(f"{path}.generation", new.get("generation", 0), words))
    found += [
        invalid(f"{path}.{name}", new.get(name, _ZERO.get(name)), IMMUTABLE)
        for name in _FOREVER
        if new.get(name) != old.get(name)
    ]
    found += _errors_of_maps(new, path)
    found += _errors_of_owners(new.get("ownerReferences", []), f"{path}.ownerReferences")
    return found + list(_errors_of_managed(new.get("managedFields", []), path))


_FOREVER: Final = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_ZERO: Final = {"name": "", "namespace": "", "uid": ""}


def _errors_of_maps(metadata: Metadata, path: str) -> list[FieldError]:
    found = []
    for name, value in metadata.get("labels", {}).items():
        found += [invalid(f"{path}.labels", name, words) for words in names.qualified(name)]
        found += [invalid(f"{path}.labels", value, words) for words in names.label_value(value)]
    annotations = metadata.get("annotations", {})
    for name in annotations:
        wrong = names.qualified(name.lower())
        found += [invalid(f"{path}.annotations", name, words) for words in wrong]
    size = sum(len(name.encode()) + len(value.encode()) for name, value in annotations.items())
    if size > ANNOTATIONS_LIMIT:
        found.append(too_long(f"{path}.annotations", ANNOTATIONS_LIMIT))
    return found


def _errors_of_owners(owners: list[dict[str, Any]], path: str) -> list[FieldError]:
    found = []
    controller = ""
    for owner in owners:
        version = owner.get("apiVersion", "")
        if not version.rpartition("/")[2]:
            found.append(invalid(f"{path}.apiVersion", version, "version must not be empty"))
        found += [
            invalid(f"{path}.{name}", "", "must not be empty")
            for name in ("kind", "name", "uid")
            if not owner.get(name)
        ]
        if (version, owner.get("kind")) == ("v1", "Event"):
            words = "/v1, Kind=Event is disallowed from being an owner"
            found.append(invalid(path, owner, words))
        if owner.get("controller"):
            this = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                words = "Only one reference can have Controller set to true."
                words = f'{words} Found "true" in references for {controller} and {this}'
                found.append(invalid(path, Verbatim(_owners_text(owners)), words))
            else:
                controller = this
    return found


def _owners_text(owners: list[dict[str, Any]]) -> str:
    order = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    texts = (
        ",".join(f'"{name}":{gotext.json(owner[name])}' for name in order if name in owner)
        for owner in owners
    )
    return "[" + ",".join(f"{{{text}}}" for text in texts) + "]"


def _errors_of_finalizers(finalizers: list[str], path: str) -> list[FieldError]:
    found = [invalid(path, each, words) for each in finalizers for words in names.qualified(each)]
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        words = "finalizer orphan and foregroundDeletion cannot be both set"
        found.append(invalid(path, finalizers, words))
    return found


def _errors_of_managed(entries: list[dict[str, Any]], path: str) -> Iterator[FieldError]:
    for index, entry in enumerate(entries):
        at = f"{path}.managedFields[{index}]"
        operation = entry.get("operation", "")
        if operation not in ("Apply", "Update"):
            yield invalid(f"{at}.operation", operation, "must be `Apply` or `Update`")
        kind = entry.get("fieldsType", "")
        if kind not in ("", "FieldsV1"):
            yield invalid(f"{at}.fieldsType", kind, "must be `FieldsV1`")
        manager = entry.get("manager", "")
        if len(manager.encode()) > 128:
            yield too_long(f"{at}.manager", 128)
        if not manager.isprintable():
            yield invalid(f"{at}.manager", manager, "should only contain printable characters")
        if len(entry.get("subresource", "")) > 256:
            yield too_long(f"{at}.subresource", 256)
