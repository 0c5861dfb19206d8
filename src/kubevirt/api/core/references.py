"""Small references from one object to another."""

from typing import Annotated, ClassVar

from kubevirt.api.struct import ATOMIC_MAP, Mark, Quantity, Struct, mark


class LocalObjectReference(Struct, frozen=True, kw_only=True):
    """Object beside this one, of a kind that the field implies."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    name: Annotated[str | None, mark(default="")] = None
    """Name of the object."""


class TypedLocalObjectReference(Struct, frozen=True, kw_only=True):
    """Object of a given kind in the same namespace."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    name: str
    """Name of the object."""
    api_group: str | None = None
    """API group without version; the core group if not set."""
    kind: str
    """Kind of the object."""


class TypedObjectReference(Struct, frozen=True, kw_only=True):
    """Object of a given kind, possibly in another namespace."""

    name: str
    """Name of the object."""
    api_group: str | None = None
    """API group without version; the core group if not set."""
    kind: str
    """Kind of the object."""
    namespace: str | None = None
    """Namespace of the object; the same if not set."""


class ObjectReference(Struct, frozen=True, kw_only=True):
    """Any object, or a part of it."""

    name: str | None = None
    """Name of the object."""
    api_version: str | None = None
    """API version of the object."""
    field_path: str | None = None
    """Part of the object, e.g. spec.containers{compute}."""
    kind: str | None = None
    """Kind of the object."""
    namespace: str | None = None
    """Namespace of the object."""
    resource_version: str | None = None
    """Version of the object that is meant."""
    uid: str | None = None
    """UID of the object."""


class ObjectFieldSelector(Struct, frozen=True, kw_only=True):
    """Field of the pod."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    api_version: str | None = None
    """API version that fieldPath is written for; v1 if not set."""
    field_path: str
    """Path such as metadata.name or metadata.labels['app']."""


class ResourceFieldSelector(Struct, frozen=True, kw_only=True):
    """Resource limit or request of a container."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    container_name: str | None = None
    """Container, required in volumes."""
    divisor: Quantity | None = None
    """Unit of the output, e.g. 1Mi; 1 if not set."""
    resource: str
    """Resource, e.g. limits.cpu or requests.memory."""
