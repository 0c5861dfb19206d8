"""Selectors and who may: whoever may see one object cannot ask for it and be given others."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest
from tests.contract import access
from tests.contract.access import ACCESS, rule
from tests.contract.conftest import People, config_of
from tests.contract.lamps import CONFIG_MAPS, PODS

from kubevirt.apiserver.auth.rbac.policy import ROLE_BINDINGS, ROLES
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Forbidden

NODE = "picky-node"
ALLOWED = {
    "metadata.name=own": ["own"],
    "metadata.name==own": ["own"],
    ",metadata.name=own": ["own"],
    "metadata.name=own,metadata.name!=other": ["own"],
    "metadata.name=own,metadata.name=z": [],
}
FORBIDDEN = {
    "": "",
    "metadata.name=other": "other",
    "metadata.name!=own": "",
    "metadata.name=a,metadata.name=own": "a",
    r"metadata.name!=x\,metadata.name=own": "",
    r"metadata.name!=x\,metadata.name\=own": "",
    r"metadata.name=x\,metadata.name\=own": "x,metadata.name=own",
    "metadata.name=own=": "",
    r"metadata.name=own\x": "",
    r"metadata.name=own,x=\y": "",
    "metadata.name=own,x": "",
    ".metadata.name=own": "",
    "metadata.name=": "",
    "metadata.name=..": "",
    "metadata.name=own/status": "",
    "metadata.name=%6fwn": "",
}
"""With the name that the refusal tells."""


@pytest.fixture
async def picky(people: People, client: Client, namespace: str) -> AsyncIterator[Client]:
    """Somebody who may see one config map of two."""
    for name in ("own", "other"):
        await client.create(CONFIG_MAPS, {"metadata": {"name": name}}, namespace)
    own = access.role("own", rule("get list watch", "core", "configmaps", "own"))
    await client.create(ACCESS[ROLES], own, namespace)
    bound = access.binding("own", "Role", "own", access.user("picky"))
    await client.create(ACCESS[ROLE_BINDINGS], bound, namespace)
    async with Client(config_of(people.kubeconfig_for("picky"))) as picky:
        async with asyncio.timeout(120):
            while not await _may(picky, namespace):
                pass
        yield picky


async def _may(picky: Client, namespace: str) -> bool:
    """Whether the binding that was made counts by now."""
    try:
        await picky.get(CONFIG_MAPS, "own", namespace)
    except Forbidden:
        return False
    return True


async def refusal(client: Client, path: str, params: Mapping[str, str]) -> str:
    with pytest.raises(Forbidden) as caught:
        await client.raw("GET", path, params=params)
    return caught.value.status.message


async def test_whoever_may_see_one_object_is_given_that_one(picky: Client, namespace: str) -> None:
    for selector, expected in ALLOWED.items():
        found = await picky.list(CONFIG_MAPS, namespace, field_selector=selector)
        assert [each["metadata"]["name"] for each in found.items] == expected, selector


@pytest.mark.parametrize(("verb", "more"), [("list", {}), ("watch", {"watch": "1"})])
async def test_whoever_may_see_one_object_is_never_given_others(
    picky: Client, namespace: str, verb: str, more: Mapping[str, str]
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for selector, name in FORBIDDEN.items():
        found = await refusal(
            picky, path, {"fieldSelector": selector, "timeoutSeconds": "1", **more}
        )
        shown = f'configmaps "{name}"' if name else "configmaps"
        assert found == (
            f'{shown} is forbidden: User "picky" cannot {verb} resource "configmaps" '
            f'in API group "" in the namespace "{namespace}"'
        ), selector


async def test_a_node_that_asks_for_its_own_pods_is_never_given_others(
    people: People, namespace: str
) -> None:
    config = config_of(people.kubeconfig_for(f"system:node:{NODE}", ["system:nodes"]))
    async with Client(config) as node:
        own = f"spec.nodeName={NODE}"
        assert not (await node.list(PODS, namespace, field_selector=own)).items
        path = f"/api/v1/namespaces/{namespace}/pods"
        for selector in (
            "spec.nodeName=other",
            f"spec.nodeName!={NODE}",
            rf"spec.nodeName!=x\,{own}",
            rf"spec.nodeName!=x\,spec.nodeName\={NODE}",
            rf"{own}\x",
            f"{own},x",
        ):
            found = await refusal(node, path, {"fieldSelector": selector})
            words = "can only list/watch pods with spec.nodeName field selector"
            assert found.endswith(words), selector
