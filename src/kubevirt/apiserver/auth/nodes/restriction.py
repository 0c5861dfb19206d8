"""Which writes a node may make: its own Node, its lease, the status of pods that run on it.

A node that could label itself at will, or lift its own taints, would draw to itself the guests and secrets that were
meant for others. Raises Refusals in Kubernetes' words.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kubevirt.apiserver.auth.nodes.authorizer import LEASES_NAMESPACE
from kubevirt.apiserver.auth.nodes.graph import named_by
from kubevirt.apiserver.auth.tokens import Objects
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal, forbidden, not_found
from kubevirt.apiserver.schema.gotext import quoted

Object = Mapping[str, Any]

_MIRROR: Final = "kubernetes.io/config.mirror"
_RESERVED: Final = "node-restriction.kubernetes.io"
_OWN_LABELS: Final = {
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "node.kubernetes.io/instance-type",
}
_OWN_PREFIXES: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """What a node is about to do."""

    node: str
    kind: Kind
    operation: str
    namespace: str
    name: str
    subresource: str
    new: Object | None
    old: Object | None

    def refused(self, cause: str) -> Refusal:
        name = self.name
        if not name and self.new is not None:
            name = (self.new.get("metadata") or {}).get("name", "")
        return forbidden(self.kind, name, cause)


class Restriction:
    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    async def check(self, write: Write) -> None:
        match write.kind.group, write.kind.names.plural:
            case "", "pods":
                await self._check_pod(write)
            case "", "nodes":
                _check_node(write)
            case "", "persistentvolumeclaims":
                _check_claim(write)
            case "", "serviceaccounts" if write.subresource == "token":
                await self._check_token(write)
            case "coordination.k8s.io", "leases":
                _check_lease(write)

    async def _check_pod(self, write: Write) -> None:
        node = quoted(write.node)
        match write.subresource, write.operation:
            case "", "CREATE":
                await self._check_mirror(write)
            case "", "DELETE":
                if await self._node_of(write) != write.node:
                    raise write.refused(
                        f"node {node} can only delete pods with spec.nodeName set to itself"
                    )
            case "", _:
                raise write.refused(
                    f"unexpected operation {quoted(write.operation)}, node {node} can only create and "
                    "delete mirror pods"
                )
            case "status", "UPDATE":
                _check_pod_status(write)
            case "eviction", "CREATE":
                if await self._node_of(write) != write.node:
                    raise write.refused(
                        f"node {write.node} can only evict pods with spec.nodeName set to itself"
                    )
            case _:
                raise write.refused(
                    f"unexpected pod subresource {quoted(write.subresource)}, only 'status' and "
                    "'eviction' are allowed"
                )

    async def _node_of(self, write: Write) -> str:
        pod = await self._objects.get("pods", write.namespace, write.name)
        if pod is None:
            raise not_found(write.kind, write.name)
        found: str = (pod.get("spec") or {}).get("nodeName", "")
        return found

    async def _check_mirror(self, write: Write) -> None:
        """What a node runs without being told to: it may show it, and nothing more."""
        node, pod = quoted(write.node), write.new or {}
        metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        if _MIRROR not in (metadata.get("annotations") or {}):
            raise write.refused(
                f'pod does not have "{_MIRROR}" annotation, node {node} can only create mirror pods'
            )
        if spec.get("nodeName") != write.node:
            raise write.refused(
                f"node {node} can only create pods with spec.nodeName set to itself"
            )
        await self._check_owner(write, metadata.get("ownerReferences") or [])
        if spec.get("serviceAccountName"):
            raise write.refused(f"node {node} can not create pods that reference serviceaccounts")
        for resource, name in named_by(spec, metadata.get("name", "")):
            if name:
                raise write.refused(f"node {node} can not create pods that reference {resource}")

    async def _check_owner(self, write: Write, owners: list[Object]) -> None:
        can_only = f"node {quoted(write.node)} can only create pods with"
        if len(owners) > 1:
            raise write.refused(f"{can_only} a single owner reference set to itself")
        owner = owners[0] if owners else {}
        if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != (
            "v1",
            "Node",
            write.node,
        ):
            raise write.refused(f"{can_only} an owner reference set to itself")
        if not owner.get("controller"):
            raise write.refused(f"{can_only} a controller owner reference set to itself")
        if owner.get("blockOwnerDeletion"):
            raise write.refused(
                f"node {quoted(write.node)} must not set blockOwnerDeletion on an owner reference"
            )
        node = await self._objects.get("nodes", "", write.node)
        uid = node["metadata"]["uid"] if node else ""
        if owner.get("uid") != uid:
            raise write.refused(
                f"node {write.node} UID mismatch: expected {owner.get('uid', '')} got {uid}"
            )

    async def _check_token(self, write: Write) -> None:
        ref = ((write.new or {}).get("spec") or {}).get("boundObjectRef") or {}
        if ref.get("apiVersion") != "v1" or ref.get("kind") != "Pod" or not ref.get("name"):
            raise write.refused("node requested token not bound to a pod")
        if not ref.get("uid"):
            raise write.refused("node requested token with a pod binding without a uid")
        pod = await self._objects.get("pods", write.namespace, ref["name"])
        if pod is None or pod["metadata"]["uid"] != ref["uid"]:
            raise write.refused(
                f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
        if (pod.get("spec") or {}).get("nodeName") != write.node:
            raise write.refused("node requested token bound to a pod scheduled on a different node")
        _check_audience(write, pod)


def _check_audience(write: Write, pod: Object) -> None:
    """Only for whom the pod itself asks for tokens."""
    audiences = ((write.new or {}).get("spec") or {}).get("audiences") or [""]
    if len(audiences) > 1:
        raise write.refused("node may only request 0 or 1 audiences")
    sources = [
        source.get("serviceAccountToken")
        for volume in pod["spec"].get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    ]
    if not any(each and each.get("audience", "") == audiences[0] for each in sources):
        raise write.refused(
            f"audience {quoted(audiences[0])} not found in pod spec volume, system:node:{write.node} is "
            "not authorized to request tokens for this audience"
        )


def _check_pod_status(write: Write) -> None:
    node, old, new = quoted(write.node), write.old or {}, write.new or {}
    if (old.get("spec") or {}).get("nodeName") != write.node:
        its_own = "pods with spec.nodeName set to itself"
        raise write.refused(f"node {node} can only update pod status for {its_own}")
    if _labels(old) != _labels(new):
        raise write.refused(f"node {node} cannot update labels through pod status")


def _check_node(write: Write) -> None:
    new, old = write.new or {}, write.old or {}
    name = write.name or (new.get("metadata") or {}).get("name", "")
    if name != write.node:
        raise write.refused(
            f"node {quoted(write.node)} is not allowed to modify node {quoted(name)}"
        )
    if write.operation == "CREATE":
        if closed := _closed_labels({}, _labels(new)):
            raise write.refused(
                f"node {quoted(write.node)} is not allowed to set the following labels: "
                f"{', '.join(closed)}"
            )
    elif write.operation == "UPDATE":
        if _of_spec(new, "taints") != _of_spec(old, "taints"):
            raise write.refused(f"node {quoted(write.node)} is not allowed to modify taints")
        if _owners(new) != _owners(old):
            raise write.refused(
                f"node {quoted(write.node)} is not allowed to modify ownerReferences"
            )
        if closed := _closed_labels(_labels(old), _labels(new)):
            raise write.refused(f"is not allowed to modify labels: {', '.join(closed)}")


def _check_claim(write: Write) -> None:
    if write.subresource != "status":
        raise write.refused("may only update PVC status")
    if _beside_capacity(write.old or {}) != _beside_capacity(write.new or {}):
        raise write.refused(
            f"node {quoted(write.node)} is not allowed to update fields other than status.quantity and "
            "status.conditions"
        )


def _beside_capacity(claim: Object) -> Object:
    """What a node has no say in."""
    open_to_it = {"capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"}
    status = claim.get("status") or {}
    metadata = dict(claim.get("metadata") or {})
    for name in ("resourceVersion", "managedFields"):
        metadata.pop(name, None)
    kept = {name: value for name, value in status.items() if name not in open_to_it}
    return {**claim, "metadata": metadata, "status": kept}


def _check_lease(write: Write) -> None:
    if write.namespace != LEASES_NAMESPACE:
        raise write.refused(
            f"can only access leases in the {quoted(LEASES_NAMESPACE)} system namespace"
        )
    name = write.name or ((write.new or {}).get("metadata") or {}).get("name", "")
    if name != write.node:
        raise write.refused("can only access node lease with the same name as the requesting node")


def _closed_labels(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    return sorted(name for name in changed if _is_closed(name))


def _is_closed(label: str) -> bool:
    """Whether a label is not a node's own to change: those of Kubernetes that say nothing of its machine."""
    domain = label.rpartition("/")[0]
    if _is_within(domain, _RESERVED):
        return True
    if not _is_within(domain, "kubernetes.io") and not _is_within(domain, "k8s.io"):
        return False
    return label not in _OWN_LABELS and not any(_is_within(domain, own) for own in _OWN_PREFIXES)


def _is_within(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")


def _labels(object_: Object) -> Mapping[str, str]:
    return (object_.get("metadata") or {}).get("labels") or {}


def _owners(object_: Object) -> Any:
    return (object_.get("metadata") or {}).get("ownerReferences") or []


def _of_spec(object_: Object, field: str) -> Any:
    return (object_.get("spec") or {}).get(field) or []
