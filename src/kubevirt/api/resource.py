"""A resource: where objects of one kind live on a server, and the type they are decoded to."""

import builtins
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kubevirt.api.meta import PartialObjectMetadata

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """`VIRTUAL_MACHINES`, `PODS` …: the first argument of every client call.

    The type decides what a caller sees. `resource.read_as(Subset)` keeps only the fields that a
    struct declares (the rest is skipped without being built), `read_as(dict[str, Any])` keeps all.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    type: builtins.type[T]

    def read_as(self, type_: builtins.type[U]) -> "Resource[U]":
        return Resource(self.group, self.version, self.plural, self.kind, self.namespaced, type_)

    @property
    def raw(self) -> "Resource[dict[str, Any]]":
        """The whole object as plain JSON data."""
        return self.read_as(dict[str, Any])

    @property
    def metadata_only(self) -> "Resource[PartialObjectMetadata]":
        """Asks the server to leave out everything but the metadata."""
        return self.read_as(PartialObjectMetadata)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> str:
        """As Kubernetes names it in messages and metrics: `virtualmachines.kubevirt.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
        """The URL path of the collection, of one object, or of its subresource."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name:
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/" + "/".join(parts)
