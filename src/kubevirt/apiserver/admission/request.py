"""A write, as webhooks see it: what is done to which resource, by whom, and how."""

from typing import Any, Final

import msgspec

from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import Identity

Object = dict[str, Any]


class KindName(msgspec.Struct, frozen=True):
    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


_OF_SUBRESOURCE: Final = {
    "attach": KindName("", "v1", "PodAttachOptions"),
    "binding": KindName("", "v1", "Binding"),
    "eviction": KindName("policy", "v1", "Eviction"),
    "exec": KindName("", "v1", "PodExecOptions"),
    "portforward": KindName("", "v1", "PodPortForwardOptions"),
    "scale": KindName("autoscaling", "v1", "Scale"),
    "token": KindName("authentication.k8s.io", "v1", "TokenRequest"),
}
"""Endpoints where objects of another kind are written."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    operation: str
    kind: KindName
    group: str
    version: str
    """The one that the client speaks."""
    other_versions: tuple[str, ...]
    """In which the same objects are served too."""
    resource: str
    subresource: str
    namespace: str
    """Of a Namespace: its own name."""
    name: str
    """Empty where it is yet to be made up, and for each of a deleted collection."""
    identity: Identity
    is_dry_run: bool
    options: Object | None
    old: Object | None
    deadline: float

    @property
    def is_namespace(self) -> bool:
        return (self.group, self.resource) == ("", "namespaces")

    def kind_in(self, version: str) -> KindName:
        """Another version of the resource is another version of its kind, where that is its own."""
        if version == self.version or self.subresource in _OF_SUBRESOURCE:
            return self.kind
        return KindName(self.kind.group, version, self.kind.kind)


def request_of(review: Review, object_: Object | None) -> Request:
    call = review.call
    kind = call.kind
    name = _name(review, object_)
    is_namespace = (kind.group, kind.names.plural) == ("", "namespaces")
    own = KindName(kind.group, call.version.name, kind.names.kind)
    return Request(
        operation=review.operation,
        kind=_OF_SUBRESOURCE.get(call.subresource, own),
        group=kind.group,
        version=call.version.name,
        other_versions=_others(call),
        resource=kind.names.plural,
        subresource=call.subresource,
        namespace=name if is_namespace else call.namespace,
        name=name,
        identity=call.identity,
        is_dry_run=review.dry_run,
        options=review.options,
        old=review.old,
        deadline=call.deadline,
    )


def _name(review: Review, object_: Object | None) -> str:
    if review.call.name or review.operation != "CREATE" or object_ is None:
        return review.call.name
    name: str = (object_.get("metadata") or {}).get("name", "")
    return name


def _others(call: Call) -> tuple[str, ...]:
    return tuple(
        each.name
        for each in call.kind.versions
        if each.served and each.name != call.version.name and _has(each.subresources, call)
    )


def _has(subresources: tuple[str, ...], call: Call) -> bool:
    return not call.subresource or call.subresource in subresources
