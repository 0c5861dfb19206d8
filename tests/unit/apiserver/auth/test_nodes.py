"""What a node makes up itself, the tokens it asks for, and a graph that follows its pods."""

from typing import Any

import pytest

from kubevirt.apiserver.auth.nodes.authorizer import node_name
from kubevirt.apiserver.auth.nodes.graph import NodeGraph
from kubevirt.apiserver.auth.nodes.restriction import Restriction, Write
from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.identity import Identity

Object = dict[str, Any]
KINDS = {(each.group, each.names.plural): each for each in builtin.kinds()}


class Stored:
    """One pod on our node, one on another, and the node."""

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        token = {"projected": {"sources": [{"serviceAccountToken": {"audience": "vault"}}]}}
        own = {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
        found = {
            ("pods", "mine"): {"nodeName": "n1", "volumes": [own, token]},
            ("pods", "yours"): {"nodeName": "n2"},
            ("nodes", "n1"): {},
        }.get((resource, name))
        return None if found is None else {"metadata": {"name": name, "uid": "u"}, "spec": found}


async def said(operation: str, new: Object | None = None, **more: Any) -> str:
    """Why not; empty if it may."""
    write = Write(
        node="n1",
        kind=KINDS[more.pop("kind", ("", "pods"))],
        operation=operation,
        namespace=more.pop("namespace", "lab"),
        name=more.pop("name", ""),
        subresource=more.pop("subresource", ""),
        new=new,
        old=more.pop("old", None),
    )
    try:
        await Restriction(Stored()).check(write)
    except Refusal as refusal:
        return refusal.status.message
    return ""


def mirror(**owner: Any) -> Object:
    ref = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u", "controller": True}
    metadata = {
        "name": "static",
        "annotations": {"kubernetes.io/config.mirror": "x"},
        "ownerReferences": [{**ref, **owner}],
    }
    return {"metadata": metadata, "spec": {"nodeName": "n1", "containers": []}}


async def test_a_node_shows_what_it_runs_by_itself() -> None:
    assert await said("CREATE", mirror()) == ""


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        ({"metadata": {"name": "p"}, "spec": {}}, 'node "n1" can only create mirror pods'),
        ({**mirror(), "spec": {"nodeName": "n2"}}, "spec.nodeName set to itself"),
        (mirror(name="n2"), "an owner reference set to itself"),
        (mirror(controller=False), "a controller owner reference set to itself"),
        (mirror(blockOwnerDeletion=True), "must not set blockOwnerDeletion"),
        (mirror(uid="other"), "UID mismatch: expected other got u"),
        (
            {**mirror(), "spec": {"nodeName": "n1", "serviceAccountName": "robot"}},
            "can not create pods that reference serviceaccounts",
        ),
        (
            {
                **mirror(),
                "spec": {"nodeName": "n1", "volumes": [{"secret": {"secretName": "loot"}}]},
            },
            "can not create pods that reference secrets",
        ),
    ],
)
async def test_what_a_node_makes_up_reaches_nothing(pod: Object, words: str) -> None:
    assert words in await said("CREATE", pod)


async def test_a_node_ends_only_what_runs_on_it() -> None:
    assert await said("DELETE", name="mine") == ""
    assert "can only delete pods" in await said("DELETE", name="yours")
    assert await said("DELETE", name="none") == 'pods "none" not found'
    eviction: Object = {"metadata": {"name": "x"}}
    assert await said("CREATE", eviction, name="mine", subresource="eviction") == ""
    refused = await said("CREATE", eviction, name="yours", subresource="eviction")
    assert "node n1 can only evict pods with spec.nodeName set to itself" in refused
    assert "unexpected operation" in await said("UPDATE", mirror(), name="mine")
    assert "unexpected pod subresource" in await said("CREATE", {}, name="mine", subresource="exec")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"boundObjectRef": {"name": "mine", "uid": "u"}}, ""),
        ({"boundObjectRef": {"name": "mine", "uid": "u"}, "audiences": ["vault"]}, ""),
        (
            {"boundObjectRef": {"name": "mine", "uid": "u"}, "audiences": ["bank"]},
            'audience "bank"',
        ),
        ({"boundObjectRef": {"name": "mine", "uid": "u"}, "audiences": ["a", "b"]}, "0 or 1"),
        ({"boundObjectRef": {"name": "mine"}}, "without a uid"),
        ({"boundObjectRef": {"name": "mine", "uid": "v"}}, "does not match the UID in record"),
        ({"boundObjectRef": {"name": "yours", "uid": "u"}}, "scheduled on a different node"),
        ({}, "not bound to a pod"),
    ],
)
async def test_a_node_asks_for_tokens_of_its_own_pods(spec: Object, words: str) -> None:
    if "boundObjectRef" in spec:
        ref = {"kind": "Pod", "apiVersion": "v1", **spec["boundObjectRef"]}
        spec = {**spec, "boundObjectRef": ref}
    refused = await said(
        "CREATE", {"spec": spec}, kind=("", "serviceaccounts"), name="robot", subresource="token"
    )
    assert words in refused
    assert bool(refused) == bool(words)


async def test_a_node_keeps_only_its_own_lease() -> None:
    lease = ("coordination.k8s.io", "leases")
    home = "kube-node-lease"
    own: Object = {"metadata": {"name": "n1"}}
    assert await said("CREATE", own, kind=lease, namespace=home) == ""
    assert "system namespace" in await said("CREATE", own, kind=lease, namespace="lab")
    other: Object = {"metadata": {"name": "n2"}}
    assert "same name" in await said("CREATE", other, kind=lease, namespace=home)


async def test_a_node_says_of_a_claim_how_large_it_is_and_no_more() -> None:
    claim = ("", "persistentvolumeclaims")
    old: Object = {"metadata": {"name": "c"}, "status": {"phase": "Bound"}}
    grown = {**old, "status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}}
    assert await said("UPDATE", grown, kind=claim, old=old, subresource="status") == ""
    lost = {**old, "status": {"phase": "Lost"}}
    refused = await said("UPDATE", lost, kind=claim, old=old, subresource="status")
    assert "not allowed to update fields other than" in refused
    assert "may only update PVC status" in await said("UPDATE", grown, kind=claim, old=old)


def test_a_graph_follows_pods_and_volumes() -> None:
    graph = NodeGraph()

    def pod(node: str, claim: str) -> Object:
        volumes = [{"persistentVolumeClaim": {"claimName": claim}}]
        spec = {"nodeName": node, "volumes": volumes, "imagePullSecrets": [{"name": "pull"}]}
        return {"metadata": {"name": "p", "namespace": "lab"}, "spec": spec}

    secret = {"name": "csi", "namespace": "storage"}
    volume = {
        "metadata": {"name": "v"},
        "spec": {
            "claimRef": {"namespace": "lab", "name": "c"},
            "csi": {"nodeStageSecretRef": secret},
        },
    }
    graph.observe("persistentvolumes", "", "v", volume)
    assert not graph.uses("n1", "persistentvolumes", "", "v")
    graph.observe("pods", "lab", "p", pod("n1", "c"))
    for thing in (
        ("persistentvolumeclaims", "lab", "c"),
        ("persistentvolumes", "", "v"),
        ("secrets", "storage", "csi"),
        ("secrets", "lab", "pull"),
        ("pods", "lab", "p"),
    ):
        assert graph.uses("n1", *thing)
        assert not graph.uses("n2", *thing)
    graph.observe("pods", "lab", "p", pod("n1", "d"))
    assert not graph.uses("n1", "secrets", "storage", "csi")
    graph.observe("pods", "lab", "p", pod("n1", "c"))
    graph.observe("persistentvolumes", "", "v", None)
    assert not graph.uses("n1", "secrets", "storage", "csi")
    graph.observe("pods", "lab", "p", pod("", "c"))
    assert not graph.uses("n1", "secrets", "lab", "pull")
    graph.observe("pods", "lab", "p", None)
    assert not graph._users
    assert not graph._secrets_of_volumes


def test_a_node_is_one_by_name_and_group() -> None:
    assert node_name(Identity(user="system:node:n1", groups=("system:nodes",))) == "n1"
    assert node_name(Identity(user="system:node:", groups=("system:nodes",))) == ""
    assert node_name(Identity(user="system:node:n1")) is None
    assert node_name(Identity(user="ann", groups=("system:nodes",))) is None
