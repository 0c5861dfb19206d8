"""What a node may touch: a server's decisions and refusals, held against our own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from tests.contract import access
from tests.contract.access import PODS, as_seen, reviewed
from tests.contract.conftest import People, config_of

from kubevirt.apiserver.auth import reviews
from kubevirt.apiserver.auth.nodes.restriction import Restriction, Write
from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.refusals import Refusal
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound

Object = dict[str, Any]
NODE = "access-node"
NODES = access.resource("", "nodes", "Node", namespaced=False)
SECRETS = access.resource("", "secrets", "Secret")


def pod(name: str, secret: str, node: str) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {
            "nodeName": node,
            "imagePullSecrets": [{"name": f"{secret}-pull"}],
            "containers": [
                {
                    "name": "c",
                    "image": "none",
                    "env": [
                        {
                            "name": "A",
                            "valueFrom": {"configMapKeyRef": {"name": f"{secret}-env", "key": "a"}},
                        }
                    ],
                    "envFrom": [{"secretRef": {"name": f"{secret}-from"}}],
                }
            ],
            "volumes": [
                {"name": "s", "secret": {"secretName": secret}},
                {"name": "c", "persistentVolumeClaim": {"claimName": f"{secret}-claim"}},
                {
                    "name": "p",
                    "projected": {"sources": [{"configMap": {"name": f"{secret}-projected"}}]},
                },
            ],
        },
    }


@pytest.fixture
async def _nodes(client: Client) -> AsyncIterator[None]:
    """Ours and another, gone with the test: whoever lists nodes next shall not find them."""
    names = (NODE, "another-node")
    try:
        for name in names:
            await client.create(NODES, {"metadata": {"name": name, "labels": {"a": "b"}}})
        yield
    finally:
        for name in names:
            with suppress(NotFound):
                await client.delete(NODES, name)


@pytest.fixture
async def lab(client: Client, _nodes: None, namespace: str) -> AsyncIterator[str]:
    """A namespace with a pod on our node, and one on another."""
    await client.create(PODS, pod("mine", "mine", NODE), namespace)
    await client.create(PODS, pod("yours", "yours", "another-node"), namespace)
    async with asyncio.timeout(120):
        while not (await _answer(client, "get", "secrets", namespace, "mine"))["allowed"]:
            pass
    yield namespace
    for name in ("mine", "yours"):
        await client.delete(PODS, name, namespace, grace_period_s=0)


async def _answer(
    client: Client, verb: str, resource: str, namespace: str, name: str, **more: Any
) -> Object:
    group, _, plural = resource.rpartition(":")
    plural, _, subresource = plural.partition("/")
    attributes = {
        "verb": verb,
        "group": group,
        "resource": plural,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
        **more,
    }
    spec = {
        "user": f"system:node:{NODE}",
        "groups": ["system:nodes", "system:authenticated"],
        "resourceAttributes": attributes,
    }
    return {**await reviewed(client, "SubjectAccessReview", spec), "spec": spec}


QUESTIONS = [
    (verb, resource, name)
    for verb in ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
    for resource, names in {
        "secrets": ("", "mine", "mine-pull", "mine-from", "yours", "none"),
        "configmaps": ("mine-env", "mine-projected", "yours-env", "kube-root-ca.crt"),
        "persistentvolumeclaims": ("mine-claim", "yours-claim"),
        "persistentvolumeclaims/status": ("mine-claim", "yours-claim"),
        "persistentvolumes": ("none",),
        "serviceaccounts": ("default", "none"),
        "serviceaccounts/token": ("default", "none", ""),
        "nodes": ("", NODE, "another-node"),
        "nodes/status": (NODE, "another-node"),
        "pods": ("", "mine", "yours"),
        "pods/status": ("mine", "yours"),
        "pods/eviction": ("mine",),
        "pods/exec": ("mine",),
        "coordination.k8s.io:leases": ("", NODE, "another-node"),
        "storage.k8s.io:csinodes": (NODE, "another-node"),
        "services": ("", "any"),
        "namespaces": ("",),
        "rbac.authorization.k8s.io:clusterroles": ("", "x"),
    }.items()
    for name in names
]


async def test_a_node_may_ask_for_what_its_pods_use(client: Client, lab: str) -> None:
    ours = await as_seen(client)
    yes = 0
    for verb, resource, name in QUESTIONS:
        for namespace in (lab, "") if name == "mine" else (lab,):
            found = await _answer(client, verb, resource, namespace, name)
            expected = reviews.subject_access({"spec": found.pop("spec")}, ours)["status"]
            assert found == expected, (verb, resource, namespace, name)
            yes += found["allowed"]
    for lease in (NODE, "another-node"):
        found = await _answer(
            client, "update", "coordination.k8s.io:leases", "kube-node-lease", lease
        )
        expected = reviews.subject_access({"spec": found.pop("spec")}, ours)["status"]
        assert found == expected
    assert 30 < yes < len(QUESTIONS) / 2


@pytest.mark.parametrize(
    "selector",
    [
        {"rawSelector": f"spec.nodeName={NODE}"},
        {"rawSelector": f"status.phase=Running,spec.nodeName=={NODE}"},
        {"rawSelector": f"spec.nodeName!={NODE}"},
        {"rawSelector": "spec.nodeName=another-node"},
        {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": [NODE]}]},
        {"requirements": [{"key": "spec.nodeName", "operator": "NotIn", "values": [NODE]}]},
    ],
)
async def test_a_node_may_list_the_pods_that_it_selects(client: Client, selector: Object) -> None:
    ours = await as_seen(client)
    found = await _answer(client, "list", "pods", "", "", fieldSelector=selector)
    expected = reviews.subject_access({"spec": found.pop("spec")}, ours)["status"]
    assert found == expected


# What it writes


class Server:
    """The objects of a server, as our own check asks for them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        asked = access.resource("", resource, "", namespaced=bool(namespace))
        return await self._client.get(asked, name, *([namespace] if namespace else []))


@pytest.fixture
async def node(people: People, _nodes: None) -> AsyncIterator[Client]:
    path = people.kubeconfig_for(f"system:node:{NODE}", ["system:nodes"])
    async with Client(config_of(path)) as node:
        yield node


async def compare(
    client: Client,
    node: Client,
    resource: str,
    patch: Object,
    *,
    name: str,
    namespace: str = "",
    subresource: str = "",
) -> str:
    """The same refusal of a merge patch from both, or none."""
    kind = next(
        each for each in builtin.kinds() if (each.group, each.names.plural) == ("", resource)
    )
    asked = access.resource("", resource, kind.names.kind, namespaced=kind.namespaced)
    old = await client.get(asked, name, *([namespace] if namespace else []))
    new = {**old, **{field: {**old.get(field, {}), **part} for field, part in patch.items()}}
    write = Write(
        node=NODE,
        kind=kind,
        operation="UPDATE",
        namespace=namespace,
        name=name,
        subresource=subresource,
        new=new,
        old=old,
    )
    expected = None
    try:
        await Restriction(Server(client)).check(write)
    except Refusal as refusal:
        expected = refusal.status
    where = f"/namespaces/{namespace}" if namespace else ""
    path = f"/api/v1{where}/{resource}/{name}{f'/{subresource}' if subresource else ''}"
    found = None
    try:
        await node.raw(
            "PATCH",
            path,
            patch,
            content_type="application/merge-patch+json",
            params={"dryRun": "All"},
        )
    except ApiError as error:
        found = error.status
    assert found == expected
    return found.message if found else ""


@pytest.mark.parametrize(
    ("patch", "refusal"),
    [
        ({"metadata": {"labels": {"a": "c"}}}, ""),
        ({"metadata": {"labels": {"a": "b", "kubernetes.io/hostname": "x"}}}, ""),
        ({"metadata": {"labels": {"a": "b", "node.kubernetes.io/x": "y"}}}, ""),
        ({"metadata": {"labels": {"a": "b", "topology.kubernetes.io/zone": "y"}}}, ""),
        (
            {"metadata": {"labels": {"a": "b", "node-role.kubernetes.io/master": ""}}},
            "is not allowed to modify labels",
        ),
        (
            {"metadata": {"labels": {"a": "b", "x.node-restriction.kubernetes.io/y": ""}}},
            "is not allowed to modify labels",
        ),
        (
            {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}},
            "is not allowed to modify taints",
        ),
    ],
)
async def test_a_node_changes_of_itself_what_is_its_own(
    client: Client, node: Client, patch: Object, refusal: str
) -> None:
    message = await compare(client, node, "nodes", patch, name=NODE)
    assert refusal in message
    assert bool(message) == bool(refusal)


async def test_a_node_does_not_change_another(client: Client, node: Client) -> None:
    patch: Object = {"metadata": {"labels": {"a": "c"}}}
    message = await compare(client, node, "nodes", patch, name="another-node")
    assert message.endswith(f'node "{NODE}" is not allowed to modify node "another-node"')


async def test_a_node_reports_on_its_own_pods_only(client: Client, node: Client, lab: str) -> None:
    patch: Object = {"status": {"phase": "Running"}}
    pods = {"namespace": lab, "subresource": "status"}
    assert await compare(client, node, "pods", patch, name="mine", **pods) == ""
    message = await compare(client, node, "pods", patch, name="yours", **pods)
    assert "can only update pod status for pods with spec.nodeName set to itself" in message
