"""APIServices of what the server serves itself: made, put right and taken away by the server."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.contract.aggregation.conftest import API_SERVICES, LIMIT_S, Registry
from tests.contract.aggregation.door import Door

from clusterup import waiting
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LABEL = "kube-aggregator.kubernetes.io/automanaged"
MERGE = "application/merge-patch+json"
Json = dict[str, Any]

PRIORITIES = {
    "v1.": (18000, 1),
    "v1.admissionregistration.k8s.io": (16700, 15),
    "v1.apiextensions.k8s.io": (16700, 15),
    "v1.apps": (17800, 15),
    "v1.authentication.k8s.io": (17700, 15),
    "v1.authorization.k8s.io": (17600, 15),
    "v1.coordination.k8s.io": (16500, 15),
    "v1.discovery.k8s.io": (16200, 15),
    "v1.events.k8s.io": (17750, 15),
    "v1.policy": (17100, 15),
    "v1.rbac.authorization.k8s.io": (17000, 15),
    "v1.scheduling.k8s.io": (16600, 15),
    "v1.storage.k8s.io": (16800, 15),
}


@pytest.mark.parametrize("name", PRIORITIES)
async def test_a_built_in_group_is_local(registry: Registry, name: str) -> None:
    found = await registry.get(f"{API_SERVICES}/{name}")
    version, _, group = name.partition(".")
    assert found["metadata"]["labels"] == {LABEL: "onstart"}
    first, second = PRIORITIES[name]
    assert found["spec"] == {
        **({"group": group} if group else {}),
        "version": version,
        "groupPriorityMinimum": first,
        "versionPriority": second,
    }
    (condition,) = found["status"]["conditions"]
    since = condition.pop("lastTransitionTime")
    assert since.endswith("Z")
    assert condition == {
        "type": "Available",
        "status": "True",
        "reason": "Local",
        "message": "Local APIServices are always available",
    }


async def test_the_group_of_api_services_has_none(registry: Registry) -> None:
    with pytest.raises(NotFound):
        await registry.get(f"{API_SERVICES}/v1.apiregistration.k8s.io")


class Definition:
    """A CRD of the test, in a group of its own."""

    def __init__(self, client: Client, group: str) -> None:
        self.client = client
        self.group = group
        self.name = f"tools.{group}"

    def version(self, name: str, *, storage: bool = False) -> Json:
        schema = {"openAPIV3Schema": {"type": "object"}}
        return {"name": name, "served": True, "storage": storage, "schema": schema}

    async def create(self) -> None:
        names = {"plural": "tools", "kind": "Tool"}
        versions = [self.version("v1", storage=True)]
        spec = {"group": self.group, "scope": "Namespaced", "names": names, "versions": versions}
        await self.client.raw("POST", CRDS, {"metadata": {"name": self.name}, "spec": spec})

    async def serve(self, *versions: Json) -> None:
        await self.client.raw(
            "PATCH",
            f"{CRDS}/{self.name}",
            {"spec": {"versions": versions}},
            content_type=MERGE,
        )

    async def delete(self) -> None:
        try:
            await self.client.raw("DELETE", f"{CRDS}/{self.name}")
        except NotFound:
            return


@pytest.fixture
async def definition(client: Client, namespace: str) -> AsyncIterator[Definition]:
    made = Definition(client, f"{namespace}.example")
    await made.create()
    yield made
    await made.delete()


async def until_there(registry: Registry, name: str) -> Json:
    found: Json = {}

    async def is_there() -> bool:
        nonlocal found
        try:
            found = await registry.get(f"{API_SERVICES}/{name}")
        except NotFound:
            return False
        return True

    await waiting.until(is_there, limit_s=LIMIT_S, what=f"{name} is there")
    return found


async def until_gone(registry: Registry, name: str) -> None:
    async def is_gone() -> bool:
        try:
            await registry.get(f"{API_SERVICES}/{name}")
        except NotFound:
            return True
        return False

    await waiting.until(is_gone, limit_s=LIMIT_S, what=f"{name} is gone")


async def test_a_crd_brings_one_for_each_version(
    registry: Registry, definition: Definition
) -> None:
    found = await until_there(registry, f"v1.{definition.group}")
    assert found["metadata"]["labels"] == {LABEL: "true"}
    assert found["spec"] == {
        "group": definition.group,
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 100,
    }
    assert found["status"]["conditions"][0]["reason"] == "Local"
    first = definition.version("v1", storage=True)
    await definition.serve(first, definition.version("v2"))
    await until_there(registry, f"v2.{definition.group}")
    await definition.serve(first, {**definition.version("v2"), "served": False})
    await until_gone(registry, f"v2.{definition.group}")
    await definition.delete()
    await until_gone(registry, f"v1.{definition.group}")


async def test_one_of_a_crd_that_is_deleted_comes_again(
    registry: Registry, definition: Definition
) -> None:
    before = await until_there(registry, f"v1.{definition.group}")
    await registry.client.raw("DELETE", f"{API_SERVICES}/v1.{definition.group}")
    seen = before

    async def is_another() -> bool:
        nonlocal seen
        seen = await until_there(registry, f"v1.{definition.group}")
        return bool(seen["metadata"]["uid"] != before["metadata"]["uid"])

    await waiting.until(is_another, limit_s=LIMIT_S, what="another one is made")
    assert seen["spec"] == before["spec"]


async def test_one_of_a_crd_that_is_changed_is_put_right(
    registry: Registry, definition: Definition
) -> None:
    name = f"v1.{definition.group}"
    before = await until_there(registry, name)
    change = {"spec": {"versionPriority": 7}}
    await registry.client.raw("PATCH", f"{API_SERVICES}/{name}", change, content_type=MERGE)

    async def is_right() -> bool:
        found = await registry.get(f"{API_SERVICES}/{name}")
        return bool(found["spec"] == before["spec"])

    await waiting.until(is_right, limit_s=LIMIT_S, what="it is put right")


async def test_one_without_the_label_is_left_alone(
    registry: Registry, definition: Definition, door: Door
) -> None:
    """It is somebody's own: who takes it over decides who serves the group."""
    name = f"v1.{definition.group}"
    await until_there(registry, name)
    service = {"namespace": registry.namespace, "name": "nobody", "port": 443}
    change = {"metadata": {"labels": {LABEL: None}}, "spec": {"service": service}}
    await registry.client.raw("PATCH", f"{API_SERVICES}/{name}", change, content_type=MERGE)
    await registry.until(name, "ServiceNotFound")

    async def is_away() -> bool:
        async with door.get(f"/apis/{definition.group}/v1/tools") as answer:
            return bool(answer.status == 503)

    await waiting.until(is_away, limit_s=LIMIT_S, what="somebody else has to serve it")
    await registry.client.raw("DELETE", f"{API_SERVICES}/{name}")

    async def is_back() -> bool:
        try:
            await registry.get(f"/apis/{definition.group}/v1/tools")
        except ApiError:
            return False
        return True

    await waiting.until(is_back, limit_s=LIMIT_S, what="it is served here again")
    found = await until_there(registry, name)
    assert found["metadata"]["labels"] == {LABEL: "true"}
