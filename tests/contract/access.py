"""Asking a server about access: reviews, roles, bindings, and the pure evaluator to hold against it."""

from collections.abc import Sequence
from typing import Any

from kubevirt.api.resource import Resource
from kubevirt.apiserver.auth.authorization import INTERESTS, Authorization
from kubevirt.apiserver.auth.rbac import policy
from kubevirt.kube.client import Client

Object = dict[str, Any]
PLURALS = {
    policy.CLUSTER_ROLES: ("ClusterRole", False),
    policy.CLUSTER_ROLE_BINDINGS: ("ClusterRoleBinding", False),
    policy.ROLES: ("Role", True),
    policy.ROLE_BINDINGS: ("RoleBinding", True),
}


def resource(
    group: str, plural: str, kind: str, *, namespaced: bool = True
) -> Resource[dict[str, Any]]:
    return Resource(group, "v1", plural, kind, namespaced, dict[str, Any])


ACCESS = {
    plural: resource(policy.GROUP, plural, kind, namespaced=namespaced)
    for plural, (kind, namespaced) in PLURALS.items()
}
PODS = resource("", "pods", "Pod")
VOLUMES = resource("", "persistentvolumes", "PersistentVolume", namespaced=False)
_SEEN = {**{(policy.GROUP, plural): each for plural, each in ACCESS.items()}}
_SEEN |= {("", "pods"): PODS, ("", "persistentvolumes"): VOLUMES}


async def as_seen(client: Client) -> Authorization:
    """Our own evaluator, knowing what the server knows now."""
    authorization = Authorization()
    for group, plural in INTERESTS:
        found = await client.list(_SEEN[group, plural])
        for each in found.items:
            metadata = each["metadata"]
            authorization.observe(
                group, plural, metadata.get("namespace", ""), metadata["name"], each
            )
    return authorization


def review(kind: str, spec: Object, group: str = "authorization.k8s.io") -> Object:
    return {"apiVersion": f"{group}/v1", "kind": kind, "spec": spec}


async def reviewed(client: Client, kind: str, spec: Object) -> Object:
    """The status of an answer."""
    asked = resource("authorization.k8s.io", f"{kind.lower()}s", kind, namespaced=False)
    answer = await client.create(asked, review(kind, spec))
    status: Object = answer["status"]
    return status


def role(name: str, *rules: Object, labels: dict[str, str] | None = None) -> Object:
    return {"metadata": {"name": name, "labels": labels or {}}, "rules": list(rules)}


def rule(verbs: str, groups: str, resources: str, *names: str) -> Object:
    """Words apart by spaces; `core` is the group without a name."""
    found: Object = {
        "verbs": verbs.split(),
        "apiGroups": ["" if each == "core" else each for each in groups.split()],
        "resources": resources.split(),
    }
    return {**found, "resourceNames": list(names)} if names else found


def binding(name: str, kind: str, role: str, *subjects: Object) -> Object:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": policy.GROUP, "kind": kind, "name": role},
        "subjects": list(subjects),
    }


def user(name: str) -> Object:
    return {"kind": "User", "name": name, "apiGroup": policy.GROUP}


def group(name: str) -> Object:
    return {"kind": "Group", "name": name, "apiGroup": policy.GROUP}


def account(namespace: str, name: str) -> Object:
    return {"kind": "ServiceAccount", "namespace": namespace, "name": name}


async def made(client: Client, plural: str, objects: Sequence[Object], namespace: str = "") -> None:
    for each in objects:
        await client.create(ACCESS[plural], each, *([namespace] if namespace else []))
