"""The four ways to change a part of an object and leave the rest to others.

    MergePatch({"spec": {"paused": True}})                  # sets these fields; None removes one
    JsonPatch().test("/spec/paused", False).replace("/spec/paused", True)
    StrategicMergePatch({"spec": {"tolerations": [...]}})   # built-in kinds only: knows list keys
    Apply({"spec": {...}})                                  # these fields are mine from now on

An object is never read, changed and put back: what a type does not know would be lost.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from kubevirt.api.meta import HasMetadata
from kubevirt.api.struct import Struct

Body = Mapping[str, Any] | Struct


class MergePatch(msgspec.Struct, frozen=True):
    """Sets the named fields, and replaces lists as a whole (RFC 7386)."""

    content_type: ClassVar[str] = "application/merge-patch+json"
    body: Body


class StrategicMergePatch(msgspec.Struct, frozen=True):
    """Sets the named fields, and merges lists by their keys. Custom resources do not take it."""

    content_type: ClassVar[str] = "application/strategic-merge-patch+json"
    body: Body


class JsonPatch(msgspec.Struct, frozen=True):
    """Steps that all succeed or none does (RFC 6902). A failed `test` is refused as `Invalid`."""

    content_type: ClassVar[str] = "application/json-patch+json"
    body: tuple[Mapping[str, Any], ...] = ()

    def test(self, path: str, value: Any) -> "JsonPatch":
        """Goes on only if this is so."""
        return self._then(op="test", path=path, value=value)

    def add(self, path: str, value: Any) -> "JsonPatch":
        return self._then(op="add", path=path, value=value)

    def replace(self, path: str, value: Any) -> "JsonPatch":
        return self._then(op="replace", path=path, value=value)

    def remove(self, path: str) -> "JsonPatch":
        return self._then(op="remove", path=path)

    def _then(self, **operation: Any) -> "JsonPatch":
        return JsonPatch((*self.body, operation))


class Apply(msgspec.Struct, frozen=True):
    """Server-side apply: the whole of what one manager wants. It needs a `field_manager`."""

    content_type: ClassVar[str] = "application/apply-patch+yaml"
    body: Body


def only_if_unchanged(
    seen: HasMetadata, body: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
) -> MergePatch:
    """Sets the fields of `body` and `metadata`, on the object that was seen and no other.

    A version in a patch is a condition: if the object has another by now, the server answers `Conflict`, and whoever
    decided looks again.
    """
    condition = {"resourceVersion": seen.metadata.resource_version}
    return MergePatch({**body, "metadata": {**(metadata or {}), **condition}})


Patch = MergePatch | StrategicMergePatch | JsonPatch | Apply


def pointer(*steps: str | int) -> str:
    """A JSON pointer: `pointer("metadata", "labels", "kubevirt.io/vm")`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
