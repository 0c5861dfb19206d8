"""CRDs as they are written, held against the answers of a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.contract.definition_cases import REFUSED, TAKEN, a_crd, a_version
from tests.contract.oracle import DRY, Oracle

from kubevirt.kube.client import Client

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
CHANGES: dict[str, dict[str, Any]] = {
    "another group": {"group": "forge.example"},
    "another scope": {"scope": "Cluster"},
    "another kind": {"names": {"kind": "Hacksaw"}},
    "another plural": {"names": {"plural": "hacksaws"}},
    "without the version that is stored": {"versions": [a_version("v2", storage=True)]},
    "another short name": {"names": {"shortNames": ["sw"]}},
}


@pytest.fixture
async def oracle(client: Client, records_answers: bool) -> Oracle:  # noqa: FBT001
    return Oracle("definitions", client, records=records_answers)


@pytest.mark.parametrize("name", REFUSED)
async def test_a_mistake_is_named(oracle: Oracle, name: str) -> None:
    await oracle.created(name, CRDS, REFUSED[name])


@pytest.mark.parametrize("name", TAKEN)
async def test_what_is_allowed_is_taken(oracle: Oracle, name: str) -> None:
    await oracle.created(name, CRDS, TAKEN[name])


@pytest.fixture
async def established(client: Client, namespace: str) -> AsyncIterator[str]:
    crd = a_crd(group=f"{namespace}.example")
    await client.raw("POST", CRDS, crd)
    path = f"{CRDS}/{crd['metadata']['name']}"
    async with asyncio.timeout(120):
        await _until_established(client, path)
    yield path
    await client.raw("DELETE", path)


async def _until_established(client: Client, path: str) -> None:
    while True:
        found = msgspec.json.decode(await client.raw("GET", path))
        conditions = found.get("status", {}).get("conditions") or []
        if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("name", CHANGES)
async def test_what_is_served_stays_what_it_is(
    oracle: Oracle, established: str, namespace: str, name: str
) -> None:
    body = {"spec": CHANGES[name]}
    found = await oracle.answer("PATCH", established, body, content_type=MERGE, **DRY)
    text = json.dumps(found).replace(namespace, "NAMESPACE")
    oracle.hold(f"change: {name}", json.loads(text))
