"""What is served here, as clients ask for it: a document a group, or everything in one.

kubectl asks once for all (aggregated discovery) and falls back to asking group by group. Both are
rendered from the same kinds, so they cannot disagree.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import msgspec

from kubevirt.apiserver.kinds.kind import Kind, Version

Document = dict[str, Any]


class Body(NamedTuple):
    """What a subresource takes or gives, where that is not its parent's kind."""

    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


_OF_PARENT: dict[str, tuple[str, ...]] = {
    "ephemeralcontainers": ("get", "patch", "update"),
    "status": ("get", "patch", "update"),
    "finalize": ("update",),
    "log": ("get",),
}
_OF_OTHERS = {
    "attach": Body("PodAttachOptions", ("create", "get")),
    "binding": Body("Binding", ("create",)),
    "eviction": Body("Eviction", ("create",), "policy", "v1"),
    "exec": Body("PodExecOptions", ("create", "get")),
    "portforward": Body("PodPortForwardOptions", ("create", "get")),
    "scale": Body("Scale", ("get", "patch", "update"), "autoscaling", "v1"),
    "token": Body("TokenRequest", ("create",), "authentication.k8s.io", "v1"),
}


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The kinds of one API group."""

    name: str
    kinds: tuple[Kind, ...]

    @property
    def versions(self) -> list[str]:
        """Served ones, the most preferred first: by Kubernetes' rule v1 comes before v1beta1."""
        found = {each.name for kind in self.kinds for each in kind.versions if each.served}
        return sorted(found, key=version_rank)

    def of_version(self, version: str) -> Iterator[tuple[Kind, Version]]:
        for kind in sorted(self.kinds, key=lambda each: each.names.plural):
            if found := kind.version(version):
                yield kind, found


def groups(kinds: Iterable[Kind]) -> dict[str, Group]:
    found: dict[str, list[Kind]] = {}
    for kind in kinds:
        found.setdefault(kind.group, []).append(kind)
    return {name: Group(name=name, kinds=tuple(each)) for name, each in found.items()}


def version_rank(name: str) -> tuple[int, int, int, str]:
    """Sorts stable versions before betas before alphas, newer before older, the rest by name."""
    digits, stage, minor = _parts(name)
    if not digits:
        return (3, 0, 0, name)
    order = {"": 0, "beta": 1, "alpha": 2}[stage]
    return (order, -int(digits), -int(minor or 0), "")


def _parts(name: str) -> tuple[str, str, str]:
    head = name.removeprefix("v")
    for stage in ("alpha", "beta"):
        major, found, minor = head.partition(stage)
        if found and major.isdigit() and minor.isdigit():
            return major, stage, minor
    return (head, "", "") if name.startswith("v") and head.isdigit() else ("", "", "")


# Group by group


class Listed(Protocol):
    """A group, wherever it is served."""

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> list[str]:
        """The most preferred first."""
        ...


def api_versions(address: str) -> Document:
    """/api"""
    where = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": where}


def group_list(found: Iterable[Listed]) -> Document:
    """/apis"""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(each) for each in found]}


def group(found: Listed) -> Document:
    """/apis/GROUP"""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(found)}


def _group(found: Listed) -> Document:
    versions = [
        {"groupVersion": f"{found.name}/{version}", "version": version}
        for version in found.versions
    ]
    return {"name": found.name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(found: Group, version: str) -> Document:
    """/apis/GROUP/VERSION and /api/v1"""
    name = f"{found.name}/{version}" if found.name else version
    return {
        "kind": "APIResourceList",
        **({"apiVersion": "v1"} if found.name else {}),
        "groupVersion": name,
        "resources": [
            line for kind, each in found.of_version(version) for line in _resources(kind, each)
        ],
    }


def _resources(kind: Kind, version: Version) -> Iterator[Document]:
    names = kind.names
    yield {
        "name": names.plural,
        "singularName": names.singular,
        "namespaced": kind.namespaced,
        "kind": names.kind,
        "verbs": list(kind.verbs),
        **_lists(shortNames=names.short, categories=names.categories),
        **({"storageVersionHash": _storage_hash(kind)} if "get" in kind.verbs else {}),
    }
    for subresource in version.subresources:
        body = _body(kind, subresource)
        yield {
            "name": f"{names.plural}/{subresource}",
            "singularName": "",
            "namespaced": kind.namespaced,
            **({"group": body.group, "version": body.version} if body.group else {}),
            "kind": body.kind,
            "verbs": list(body.verbs),
        }


def _storage_hash(kind: Kind) -> str:
    """Changes when objects are stored in another version."""
    name = f"{kind.group}/{kind.storage_version.name}/{kind.names.kind}"
    return b64encode(sha256(name.encode()).digest()[:8]).decode()


# All at once


def aggregated(found: Iterable[tuple[str, list[Document]]]) -> Document:
    """Of groups by name, a document for each version."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            {"metadata": {"name": name} if name else {}, "versions": versions}
            for name, versions in found
        ],
    }


def aggregated_version(found: Group, version: str) -> Document:
    resources = [_aggregated_resource(kind, each) for kind, each in found.of_version(version)]
    return {"version": version, "resources": resources, "freshness": "Current"}


def _aggregated_resource(kind: Kind, version: Version) -> Document:
    names = kind.names
    below = [
        {
            "subresource": each,
            "responseKind": _response_kind(kind, version, body := _body(kind, each)),
            "verbs": list(body.verbs),
        }
        for each in version.subresources
    ]
    own = Body(names.kind, kind.verbs)
    return {
        "resource": names.plural,
        "responseKind": _response_kind(kind, version, own),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": names.singular,
        "verbs": list(kind.verbs),
        **_lists(shortNames=names.short, categories=names.categories),
        **({"subresources": below} if below else {}),
    }


def _response_kind(kind: Kind, version: Version, body: Body) -> Document:
    """Of a built-in kind the real server says the group only where it is another's."""
    if body.group or not kind.is_custom:
        return {"group": body.group, "version": body.version, "kind": body.kind}
    return {"group": kind.group, "version": version.name, "kind": body.kind}


def _body(kind: Kind, subresource: str) -> Body:
    if subresource in _OF_PARENT:
        return Body(kind.names.kind, _OF_PARENT[subresource])
    return _OF_OTHERS[subresource]


def _lists(**values: tuple[str, ...]) -> Document:
    return {name: list(each) for name, each in values.items() if each}
