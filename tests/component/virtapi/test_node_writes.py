"""A virt-handler's token is good for the node that it was made for, and for KubeVirt's marks there."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from tests.component.virtapi.machines import MERGE
from tests.component.virtapi.place import NODE, Place

from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

NODES = "/api/v1/nodes"
TOKENS = "/api/v1/namespaces/kubevirt/serviceaccounts/kubevirt-handler/token"
MARK = {"metadata": {"labels": {"kubevirt.io/schedulable": "true"}}}
FOREIGN = {"metadata": {"labels": {"secrets": "here"}}}


@asynccontextmanager
async def another_node(client: Client) -> AsyncIterator[str]:
    name = f"node-{secrets.token_hex(4)}"
    await client.raw("POST", NODES, {"metadata": {"name": name}})
    try:
        yield name
    finally:
        await client.raw("DELETE", f"{NODES}/{name}")


@asynccontextmanager
async def handler_of(place: Place, client: Client, node: str | None) -> AsyncIterator[Client]:
    """With a token as kubelet mounts it into the pod there."""
    spec: dict[str, Any] = {"expirationSeconds": 3600}
    if node:
        found = msgspec.json.decode(await client.raw("GET", f"{NODES}/{node}"))
        reference = {"apiVersion": "v1", "kind": "Node", "name": node}
        spec["boundObjectRef"] = {**reference, "uid": found["metadata"]["uid"]}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    token = msgspec.json.decode(await client.raw("POST", TOKENS, body))["status"]["token"]
    async with place.client(place.server.kubeconfig_with_token(token)) as made:
        yield made


async def patched(client: Client, node: str, body: Any) -> Any:
    done = await client.raw("PATCH", f"{NODES}/{node}", body, content_type=MERGE)
    return msgspec.json.decode(done)


async def refusal(client: Client, node: str, body: Any) -> str:
    with pytest.raises(ApiError) as caught:
        await patched(client, node, body)
    return str(caught.value)


async def test_a_handler_marks_its_own_node_and_no_other(place: Place, client: Client) -> None:
    async with another_node(client) as other, handler_of(place, client, NODE) as handler:
        marked = await patched(handler, NODE, MARK)
        assert marked["metadata"]["labels"]["kubevirt.io/schedulable"] == "true"
        assert "only allowed to modify the node it runs on" in await refusal(handler, other, MARK)
    async with handler_of(place, client, None) as nowhere:
        assert "missing node name" in await refusal(nowhere, NODE, MARK)


async def test_a_handler_draws_no_pods_to_its_node_and_drives_none_away(
    place: Place, client: Client
) -> None:
    taint = {"key": "a", "effect": "NoExecute"}
    async with handler_of(place, client, NODE) as handler:
        said = await refusal(handler, NODE, FOREIGN)
        assert "this user cannot add/delete non kubevirt-owned labels" in said
        said = await refusal(handler, NODE, {"spec": {"taints": [taint]}})
        assert "this user cannot modify spec of node" in said


async def test_nobody_else_needs_virt_api_to_write_nodes(place: Place, client: Client) -> None:
    """Kubelets and administrators: their writes must not wait for a program that runs on nodes."""
    async with another_node(client) as node:
        await place.kill()
        try:
            labelled = await patched(client, node, FOREIGN)
            assert labelled["metadata"]["labels"]["secrets"] == "here"
            async with handler_of(place, client, node) as handler:
                said = await refusal(handler, node, MARK)
            assert "node-restriction-validator.kubevirt.io" in said
        finally:
            place.start_again()
            await place.until_at_work(client)
