"""Small references from one object to another."""

from kubevirt.api.struct import Quantity, Struct


class LocalObjectReference(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None


class TypedLocalObjectReference(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    api_group: str | None = None
    kind: str


class TypedObjectReference(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    api_group: str | None = None
    kind: str
    namespace: str | None = None


class ObjectReference(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    api_version: str | None = None
    field_path: str | None = None
    kind: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    uid: str | None = None


class ObjectFieldSelector(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    field_path: str


class ResourceFieldSelector(Struct, frozen=True, kw_only=True):
    """…"""

    container_name: str | None = None
    divisor: Quantity | None = None
    resource: str
