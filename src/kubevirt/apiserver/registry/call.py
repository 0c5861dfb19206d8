"""A request for a resource, once it is known who asks for what."""

import math
from collections.abc import Mapping, Sequence

import msgspec

from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.registry.identity import Identity

Query = Mapping[str, Sequence[str]]
"""All values of each parameter."""


class Call(msgspec.Struct, kw_only=True):
    """`warnings` is what the answer will warn of, `annotations` what the audit log will say beside it;
    every step may add to them.
    """

    verb: str
    kind: Kind
    version: Version
    identity: Identity
    namespace: str = ""
    """Empty for kinds without namespaces, and for all of them."""
    name: str = ""
    subresource: str = ""
    query: Query = {}
    user_agent: str = ""
    warnings: list[str] = []
    annotations: dict[str, str] = {}
    deadline: float = math.inf
    """When whoever answers for the server must have done so, in monotonic time."""

    @property
    def api_version(self) -> str:
        group = self.kind.group
        return f"{group}/{self.version.name}" if group else self.version.name

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)

    @property
    def prefix(self) -> str:
        """Of all that a list or a watch may show."""
        kind = self.kind
        if kind.namespaced and self.namespace:
            return f"{kind.prefix}{self.namespace}/"
        return kind.prefix

    @property
    def default_manager(self) -> str:
        """Of fields, where the client names none: the program that it is."""
        return self.user_agent.partition("/")[0][:128]

    def first(self, name: str, default: str = "") -> str:
        values = self.query.get(name)
        return values[0] if values else default
