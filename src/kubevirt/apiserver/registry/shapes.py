"""What an object of a kind must look like: read, defaulted and judged by the schema of its version.

Compiled when a kind is first written to, kept until its definition changes.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

from kubevirt.apiserver.apply import types
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.ownership import Kind as Endpoint
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.registry.typed import TypedSchema
from kubevirt.apiserver.schema.custom import CustomSchema, Read
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.apiserver.schema.structural import Pool, Schema

Object = dict[str, Any]


class Shape(Protocol):
    @property
    def schema(self) -> Schema: ...

    def read(self, body: Object) -> Read: ...

    def default(self, object_: Object) -> Object: ...

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]: ...

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]: ...

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]: ...


class Shapes:
    """Of all versions of one kind."""

    def __init__(self, kind: Kind, pool: Pool) -> None:
        self._kind = kind
        self._pool = pool
        self._shapes: dict[str, Shape] = {}

    def of(self, version: Version) -> Shape:
        shape = self._shapes.get(version.name)
        if shape is None:
            shape = self._shapes[version.name] = self._compiled(version)
        return shape

    def _compiled(self, version: Version) -> Shape:
        if self._kind.is_custom:
            return CustomSchema(version.schema(), pool=self._pool)
        return TypedSchema(version.schema(), version.type_name, pool=self._pool)

    @cached_property
    def _types(self) -> Mapping[str, types.Type]:
        build = types.type_of_object if self._kind.is_custom else types.type_of
        return {
            self._api_version(each): build(self.of(each).schema) for each in self._kind.versions
        }

    def _api_version(self, version: Version) -> str:
        return f"{self._kind.group}/{version.name}" if self._kind.group else version.name

    def endpoint(self, version: Version, subresource: str) -> Endpoint:
        """Where fields are owned: through `status` nothing but the status can be taken, and the other
        way round, for kinds that have it apart.
        """
        ignored: dict[str, FieldSet] = {}
        for each in self._kind.versions:
            if "status" in each.subresources:
                fields = self._others if subresource == "status" else _STATUS
                ignored[self._api_version(each)] = fields
        return Endpoint(
            api_version=self._api_version(version),
            kind=self._kind.names.kind,
            types=self._types,
            subresource=subresource,
            ignored=ignored,
        )

    @cached_property
    def _others(self) -> FieldSet:
        """What a write through the status endpoint does not reach."""
        if self._kind.is_custom:
            return FieldSet.of(("f:spec",))
        names = self.of(self._kind.storage_version).schema.properties
        return FieldSet.of(*((f"f:{name}",) for name in names if name not in _REACHED))


_STATUS = FieldSet.of(("f:status",))
_REACHED = ("apiVersion", "kind", "metadata", "status")
