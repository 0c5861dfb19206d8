"""Collections that are deleted: all at once, or page by page; and what is told of them."""

import json
from typing import Any

import pytest
from tests.contract import access

from kubevirt.kube.client import Client

SECRETS = access.resource("", "secrets", "Secret")
NAMES = [f"s-{number}" for number in range(5)]
OURS = {"labelSelector": "ours"}


@pytest.fixture
async def secrets(client: Client, namespace: str) -> str:
    """The path of five, and of one that is not ours."""
    for name in NAMES:
        labels = {"ours": "yes"}
        await client.create(SECRETS, {"metadata": {"name": name, "labels": labels}}, namespace)
    await client.create(SECRETS, {"metadata": {"name": "z"}}, namespace)
    return f"/api/v1/namespaces/{namespace}/secrets"


def names(found: Any) -> list[str]:
    return [each["metadata"]["name"] for each in found["items"]]


async def left(client: Client, secrets: str) -> list[str]:
    return names(json.loads(await client.raw("GET", secrets, params=OURS)))


async def deleted(client: Client, secrets: str, **params: str) -> Any:
    return json.loads(await client.raw("DELETE", secrets, params=params))


async def test_those_that_were_deleted_are_told_as_they_were(client: Client, secrets: str) -> None:
    before = json.loads(await client.raw("GET", secrets, params=OURS))
    found = await deleted(client, secrets, **OURS)
    assert (found["kind"], found["apiVersion"]) == ("SecretList", "v1")
    assert found["items"] == before["items"]
    assert set(found["metadata"]) == {"resourceVersion"}
    assert await left(client, secrets) == []
    params = {"watch": "1", "timeoutSeconds": "1", **OURS}
    params["resourceVersion"] = found["metadata"]["resourceVersion"]
    events = (await client.raw("GET", secrets, params=params)).splitlines()
    # It is the version at which they were still there.
    assert [json.loads(each)["type"] for each in events] == ["DELETED"] * 5


async def test_a_page_is_deleted_and_no_more(client: Client, secrets: str) -> None:
    first = await deleted(client, secrets, limit="2")
    assert names(first) == NAMES[:2]
    assert first["metadata"]["remainingItemCount"] == 4
    assert await left(client, secrets) == NAMES[2:]
    token = first["metadata"]["continue"]
    second = await deleted(client, secrets, limit="2", **{"continue": token})
    assert names(second) == NAMES[2:4]
    assert await left(client, secrets) == NAMES[4:]
    last = await deleted(client, secrets, limit="2")
    assert names(last) == [NAMES[4], "z"]
    assert "continue" not in last["metadata"]


async def test_a_page_of_a_selection_is_deleted_and_no_more(client: Client, secrets: str) -> None:
    found = await deleted(client, secrets, limit="3", dryRun="All", **OURS)
    assert names(found) == NAMES[:3]
    assert await left(client, secrets) == NAMES
    found = await deleted(client, secrets, limit="3", **OURS)
    assert names(found) == NAMES[:3]
    assert "continue" in found["metadata"]
    assert "remainingItemCount" not in found["metadata"]
    assert await left(client, secrets) == NAMES[3:]


async def test_one_of_a_name_is_deleted(client: Client, secrets: str) -> None:
    found = await deleted(client, secrets, fieldSelector="metadata.name=s-3")
    assert names(found) == ["s-3"]
    assert await left(client, secrets) == ["s-0", "s-1", "s-2", "s-4"]
