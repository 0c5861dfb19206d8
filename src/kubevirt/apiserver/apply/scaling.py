"""Owners of replicas: the same field by two names, in an object and in its scale subresource.

A scale is an object of its own while it is written, and its owners are those of the parent's field
of replicas. `to_scale` shows them so; `to_parent` takes back what became of them.
"""

from collections.abc import Mapping
from typing import Any, Final

from kubevirt.apiserver.apply import managed
from kubevirt.apiserver.apply.fieldset import FieldSet, Path
from kubevirt.apiserver.apply.managed import Owned

SCALE_VERSION: Final = "autoscaling/v1"
REPLICAS: Final = FieldSet.of(("f:spec", "f:replicas"))

Entries = list[dict[str, Any]]
Paths = Mapping[str, Path | None]
"""Where replicas stand, by API version of the parent; None where it has no scale."""


def replicas_path(json_path: str) -> Path:
    """Of a CRD's `specReplicasPath`: `.spec.replicas`."""
    return tuple(f"f:{name}" for name in json_path.removeprefix(".").split("."))


def to_scale(parent: Entries | None, paths: Paths) -> Entries:
    found = {}
    for manager, owned in managed.decode(parent).items():
        path = paths.get(owned.api_version)
        if path and owned.fields.has(*path):
            found[manager] = Owned(REPLICAS, SCALE_VERSION, owned.time)
    return managed.encode(found)


def to_parent(parent: Entries | None, scale: Entries | None, paths: Paths, version: str) -> Entries:
    """`version` is the one in which the scale's new owners own the parent's field."""
    left = {
        manager: owned
        for manager, owned in managed.decode(scale).items()
        if owned.fields & REPLICAS
    }
    before = managed.decode(parent)
    kept = {}
    for manager, owned in before.items():
        if owned.api_version not in paths:
            continue
        path = paths[owned.api_version]
        if not path or not owned.fields.has(*path):
            kept[manager] = owned
        elif manager in left:
            kept[manager] = owned
            del left[manager]
        elif fields := owned.fields - FieldSet.of(path):
            kept[manager] = owned.with_fields(fields)
    path = paths[version]
    if path:
        for manager, owned in left.items():
            time = before[manager].time if manager in before else owned.time
            kept[manager] = Owned(FieldSet.of(path), version, time)
    return managed.encode(kept)
