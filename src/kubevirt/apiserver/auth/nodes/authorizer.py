"""Which requests a node may make. What the request does not tell is left to `restriction.py`."""

from collections.abc import Callable
from typing import Final

from kubevirt.apiserver.auth.decision import ALLOWED, NO_OPINION, Decision
from kubevirt.apiserver.auth.names import NODE_PREFIX, NODES
from kubevirt.apiserver.auth.nodes.graph import NodeGraph
from kubevirt.apiserver.auth.rbac import defaults
from kubevirt.apiserver.auth.rbac.role import CompiledRole
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.http.field_selectors import Term
from kubevirt.apiserver.registry.identity import Identity

LEASES_NAMESPACE: Final = "kube-node-lease"
_READ: Final = {"get", "list", "watch"}
_OWN: Final = {"get", "create", "update", "patch", "delete"}


def node_name(identity: Identity) -> str | None:
    """None for those who are no node; empty for a node that does not say which."""
    if NODES not in identity.groups or not identity.user.startswith(NODE_PREFIX):
        return None
    return identity.user.removeprefix(NODE_PREFIX)


class NodeAuthorizer:
    def __init__(self, graph: NodeGraph) -> None:
        self._graph = graph
        self._rules = CompiledRole(defaults.table()["system:node"])
        self._limited: dict[tuple[str, str], Callable[[str, Asked], Decision]] = {
            ("", "secrets"): self._read,
            ("", "configmaps"): self._read,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "persistentvolumes"): self._get,
            ("", "serviceaccounts"): self._account,
            ("", "nodes"): _node,
            ("", "pods"): self._pod,
            ("coordination.k8s.io", "leases"): _lease,
            ("resource.k8s.io", "resourceclaims"): self._get,
            ("storage.k8s.io", "csinodes"): _csi_node,
            ("storage.k8s.io", "volumeattachments"): self._get,
        }
        """Of everything else a node may do what its role allows."""

    def decide(self, asked: Asked, identity: Identity) -> Decision:
        node = node_name(identity)
        if node is None:
            return NO_OPINION
        if not node:
            return _no(f'unknown node for user "{identity.user}"')
        if asked.is_resource:
            limited = self._limited.get((asked.group, asked.resource))
            if limited is not None:
                return limited(node, asked)
        return ALLOWED if self._rules.allows(asked) else NO_OPINION

    def _related(self, node: str, asked: Asked) -> Decision:
        if not asked.name:
            return _no("No Object name found")
        if not self._graph.uses(node, asked.resource, asked.namespace, asked.name):
            return _no(f"no relationship found between node '{node}' and this object")
        return ALLOWED

    def _read(self, node: str, asked: Asked) -> Decision:
        if asked.verb not in _READ:
            return _no("can only read resources of this type")
        if asked.subresource:
            return _no("cannot read subresource")
        if not asked.namespace:
            return _no("can only read namespaced object of this type")
        return self._related(node, asked)

    def _get(self, node: str, asked: Asked) -> Decision:
        if asked.verb != "get":
            return _no("can only get individual resources of this type")
        if asked.subresource:
            return _no("cannot get subresource")
        return self._related(node, asked)

    def _claim(self, node: str, asked: Asked) -> Decision:
        if asked.subresource != "status":
            return self._get(node, asked)
        if asked.verb not in {"update", "patch"}:
            return _no("can only get/update/patch this type")
        return self._related(node, asked)

    def _account(self, node: str, asked: Asked) -> Decision:
        if asked.verb == "get" and not asked.subresource:
            return self._read(node, asked)
        if asked.verb != "create" or not asked.name:
            return _no("can only create tokens for individual service accounts")
        if asked.subresource != "token":
            return _no("can only create token subresource of serviceaccount")
        return self._related(node, asked)

    def _pod(self, node: str, asked: Asked) -> Decision:
        match asked.subresource, asked.verb:
            case "", "get":
                return self._get(node, asked)
            case "", "list" | "watch":
                if Term("spec.nodeName", node, is_equal=True) in asked.fields:
                    return ALLOWED
                if asked.name:
                    return self._related(node, asked)
                return _no("can only list/watch pods with spec.nodeName field selector")
            case (
                ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create")
            ):
                return ALLOWED
        return NO_OPINION


def _lease(node: str, asked: Asked) -> Decision:
    if asked.verb not in _OWN:
        return _no("can only get, create, update, patch, or delete a node lease")
    if asked.namespace != LEASES_NAMESPACE:
        return _no(f'can only access leases in the "{LEASES_NAMESPACE}" system namespace')
    if asked.verb != "create" and asked.name != node:
        return _no("can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(node: str, asked: Asked) -> Decision:
    if asked.verb not in _OWN:
        return _no("can only get, create, update, patch, or delete a CSINode")
    if asked.subresource:
        return _no("cannot authorize CSINode subresources")
    if asked.verb != "create" and asked.name != node:
        return _no("can only access CSINode with the same name as the requesting node")
    return ALLOWED


def _node(node: str, asked: Asked) -> Decision:
    match asked.subresource, asked.verb:
        case ("", "create" | "update" | "patch") | ("status", "update" | "patch"):
            return ALLOWED
        case "", "get" | "list" | "watch":
            if asked.name == node:
                return ALLOWED
            whom = f"'{asked.name}'" if asked.name else "all nodes"
            return _no(f"node '{node}' cannot read {whom}, only its own Node object")
    return NO_OPINION


def _no(reason: str) -> Decision:
    return Decision(allowed=False, reason=reason)
