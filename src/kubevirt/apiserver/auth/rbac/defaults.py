"""The roles and bindings that every cluster starts with, as Kubernetes 1.34 has them.

People bind `admin`, `edit` and `view`, operators add to these by label, so what is in them is part of the API.
The cluster roles are in a table, `cluster_roles.txt`. Of the controllers in Kubernetes' own controller manager
only those are there whose work is done by somebody who asks this server: the others do not run here, or are
part of it.
"""

from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any, Final

from kubevirt.apiserver.auth.names import (
    AUTHENTICATED,
    MASTERS,
    SERVICE_ACCOUNTS,
    UNAUTHENTICATED,
)
from kubevirt.apiserver.auth.rbac import aggregation
from kubevirt.apiserver.auth.rbac.policy import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP,
    ROLE_BINDINGS,
    ROLES,
)
from kubevirt.apiserver.auth.rbac.rules import Rule

Object = dict[str, Any]

_READ: Final = "get list watch"
_WRITE: Final = "create update patch delete deletecollection"
_VERBS: Final = {"READ": _READ, "WRITE": _WRITE, "ALTER": f"{_READ} update patch"}

_MADE_OF_OTHERS: Final = {"admin": (), "edit": ("admin",), "view": ("edit",)}
"""Each gathers what is labelled for it, and is itself part of these."""

_CLUSTER_BINDINGS: Final[dict[str, Sequence[tuple[str, str]]]] = {
    "cluster-admin": [("Group", MASTERS)],
    "system:monitoring": [("Group", "system:monitoring")],
    "system:discovery": [("Group", AUTHENTICATED)],
    "system:basic-user": [("Group", AUTHENTICATED)],
    "system:public-info-viewer": [("Group", AUTHENTICATED), ("Group", UNAUTHENTICATED)],
    "system:node-proxier": [("User", "system:kube-proxy")],
    "system:kube-controller-manager": [("User", "system:kube-controller-manager")],
    "system:controller:node-controller": [("ServiceAccount", "kube-system/node-controller")],
    "system:kube-dns": [("ServiceAccount", "kube-system/kube-dns")],
    "system:kube-scheduler": [("User", "system:kube-scheduler")],
    "system:volume-scheduler": [("User", "system:kube-scheduler")],
    "system:node": [],
    "system:service-account-issuer-discovery": [("Group", SERVICE_ACCOUNTS)],
}
_READER: Final = "extension-apiserver-authentication-reader"


def objects() -> Iterator[tuple[str, Object]]:
    """Resource and object, the rules of gathering roles worked out already."""
    roles = {name: _cluster_role(name, rules) for name, rules in table().items()}
    roles |= {name: _gathering(name, parts) for name, parts in _MADE_OF_OTHERS.items()}
    for name, rules in aggregation.changes(roles).items():
        roles[name]["rules"] = [rule.as_object() for rule in rules]
    for role in roles.values():
        yield CLUSTER_ROLES, role
    for name, subjects in _CLUSTER_BINDINGS.items():
        yield CLUSTER_ROLE_BINDINGS, _binding("ClusterRole", name, subjects)
    yield ROLES, _reader()
    reader = _binding(
        "Role",
        _READER,
        [("User", "system:kube-controller-manager"), ("User", "system:kube-scheduler")],
    )
    reader["metadata"] |= {"name": f"system::{_READER}", "namespace": "kube-system"}
    yield ROLE_BINDINGS, reader


def table() -> dict[str, list[Rule]]:
    """The rules of each cluster role that is not made of others."""
    text = (resources.files(__package__) / "cluster_roles.txt").read_text(encoding="utf-8")
    found: dict[str, list[Rule]] = {}
    for block in text.split("\n\n")[1:]:
        name, *lines = block.replace("\n      ", " ").strip().split("\n")
        found[name] = [_rule(line) for line in lines]
    return found


def _rule(line: str) -> Rule:
    """Sorted, as Kubernetes' own are."""
    if " | " not in line:
        verb, *paths = line.split()
        return Rule(verbs=(verb,), non_resource_urls=tuple(sorted(paths)))
    verbs, groups, things = (part.split() for part in line.split(" | "))
    return Rule(
        verbs=tuple(sorted(verb for each in verbs for verb in _VERBS.get(each, each).split())),
        api_groups=tuple(sorted("" if each == "core" else each for each in groups)),
        resources=tuple(sorted(each for each in things if not each.startswith("["))),
        resource_names=tuple(each.strip("[]") for each in things if each.startswith("[")),
    )


def _metadata(name: str) -> Object:
    return {
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }


def _object(kind: str, metadata: Object, **fields: Any) -> Object:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, **fields}


def _cluster_role(name: str, rules: Sequence[Rule]) -> Object:
    metadata = _metadata(name)
    if name.startswith("system:aggregate-to-"):
        metadata["labels"][f"{GROUP}/{name.removeprefix('system:')}"] = "true"
    return _object("ClusterRole", metadata, rules=[rule.as_object() for rule in rules])


def _gathering(name: str, part_of: Sequence[str]) -> Object:
    metadata = _metadata(name)
    metadata["labels"] |= {f"{GROUP}/aggregate-to-{each}": "true" for each in part_of}
    wanted = {"matchLabels": {f"{GROUP}/aggregate-to-{name}": "true"}}
    return _object(
        "ClusterRole", metadata, aggregationRule={"clusterRoleSelectors": [wanted]}, rules=None
    )


def _reader() -> Object:
    metadata = {**_metadata(_READER), "namespace": "kube-system"}
    rule = _rule("get list watch | core | configmaps [extension-apiserver-authentication]")
    return _object("Role", metadata, rules=[rule.as_object()])


def _binding(kind: str, name: str, subjects: Sequence[tuple[str, str]]) -> Object:
    return _object(
        f"{kind}Binding",
        _metadata(name),
        roleRef={"apiGroup": GROUP, "kind": kind, "name": name},
        **({"subjects": [_subject(*each) for each in subjects]} if subjects else {}),
    )


def _subject(kind: str, name: str) -> Object:
    if kind == "ServiceAccount":
        namespace, _, name = name.partition("/")
        return {"kind": kind, "name": name, "namespace": namespace}
    return {"apiGroup": GROUP, "kind": kind, "name": name}
