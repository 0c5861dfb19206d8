"""Patches of the fields that differ, refused by the server if the object has changed since it was seen.

A version in a patch is a condition: if the object has another by now, the server answers `Conflict`, and whoever
decided looks again.
"""

from typing import Any

from kubevirt.api.meta import HasMetadata
from kubevirt.api.struct import Struct
from kubevirt.kube.patches import MergePatch
from kubevirt.virt.changes import between


def difference(before: Struct, after: Struct) -> dict[str, Any]:
    """What a merge patch has to say; empty if nothing."""
    return {each.field: _merged(each.before, each.after) for each in between(before, after)}


def _merged(before: Any, after: Any) -> Any:
    """Objects are merged by a server, so what is not to stay has to be named; all else is replaced."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    gone = {name: None for name in before if name not in after}
    changed = {
        name: _merged(before.get(name), value)
        for name, value in after.items()
        if before.get(name) != value
    }
    return {**gone, **changed}


def only_if_unchanged(
    seen: HasMetadata, body: dict[str, Any], metadata: dict[str, Any] | None = None
) -> MergePatch:
    condition = {"resourceVersion": seen.metadata.resource_version}
    return MergePatch({**body, "metadata": {**(metadata or {}), **condition}})
