"""CRDs from their first day to their last: established, changed while served, gone with their objects."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest

from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
Json = dict[str, Any]

TEXT = {"type": "string"}


def schema(**properties: Any) -> Json:
    spec = {"type": "object", "properties": properties}
    return {"type": "object", "properties": {"spec": spec}}


def version(name: str, openapi: Json, **more: Any) -> Json:
    made = {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": openapi}}
    return {**made, **more}


class Workshop:
    """Makes kinds in a group of its own, and objects of them."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self.group = f"{namespace}.example"
        self.made: list[str] = []

    async def define(self, *versions: Json, plural: str = "tools", kind: str = "Tool") -> str:
        name = f"{plural}.{self.group}"
        names = {"plural": plural, "kind": kind}
        spec = {"group": self.group, "scope": "Namespaced", "names": names, "versions": versions}
        await self.client.raw("POST", CRDS, {"metadata": {"name": name}, "spec": spec})
        self.made.append(name)
        return name

    async def served(self, path: str) -> Any:
        """An answer, once there is one."""
        async with asyncio.timeout(120):
            while True:
                try:
                    return msgspec.json.decode(await self.client.raw("GET", path))
                except NotFound:
                    await asyncio.sleep(0.05)

    def path(self, name: str = "", version: str = "v1", plural: str = "tools") -> str:
        root = f"/apis/{self.group}/{version}/namespaces/{self.namespace}/{plural}"
        return f"{root}/{name}" if name else root

    def tool(self, name: str, spec: Json, version: str = "v1", **metadata: Any) -> Json:
        return {
            "apiVersion": f"{self.group}/{version}",
            "kind": "Tool",
            "metadata": {"name": name, **metadata},
            "spec": spec,
        }

    async def create(self, tool: Json, version: str = "v1") -> Json:
        answer = await self.client.raw("POST", self.path(version=version), tool)
        made: Json = msgspec.json.decode(answer)
        return made

    async def crd(self, name: str) -> Json:
        found: Json = msgspec.json.decode(await self.client.raw("GET", f"{CRDS}/{name}"))
        return found

    async def until(self, name: str, is_so: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(120):
            while True:
                found = await self.crd(name)
                if is_so(found):
                    return found
                await asyncio.sleep(0.05)

    async def until_gone(self, name: str) -> None:
        async with asyncio.timeout(120):
            while True:
                try:
                    await self.crd(name)
                except NotFound:
                    return
                await asyncio.sleep(0.05)


def condition(crd: Json, type_: str) -> Json:
    found = crd.get("status", {}).get("conditions") or []
    return next((each for each in found if each["type"] == type_), {})


@pytest.fixture
async def workshop(client: Client, namespace: str) -> AsyncIterator[Workshop]:
    workshop = Workshop(client, namespace)
    yield workshop
    for name in workshop.made:
        try:
            await client.raw("DELETE", f"{CRDS}/{name}")
        except NotFound:
            continue


async def test_what_is_left_out_of_a_crd_is_filled_in(workshop: Workshop) -> None:
    name = await workshop.define(version("v1", schema(a=TEXT)))
    crd = await workshop.until(
        name, lambda crd: condition(crd, "Established").get("status") == "True"
    )
    assert crd["spec"]["names"] == {
        "plural": "tools",
        "singular": "tool",
        "kind": "Tool",
        "listKind": "ToolList",
    }
    assert crd["spec"]["conversion"] == {"strategy": "None"}
    assert crd["status"]["acceptedNames"] == crd["spec"]["names"]
    assert crd["status"]["storedVersions"] == ["v1"]
    assert condition(crd, "Established")["reason"] == "InitialNamesAccepted"
    assert condition(crd, "NamesAccepted")["reason"] == "NoConflicts"


async def test_objects_are_pruned_and_defaulted(workshop: Workshop) -> None:
    await workshop.define(version("v1", schema(a=TEXT, b={**TEXT, "default": "x"})))
    await workshop.served(workshop.path())
    made = await workshop.create(workshop.tool("one", {"a": "1", "unknown": "2"}))
    assert made["spec"] == {"a": "1", "b": "x"}
    assert made["metadata"]["generation"] == 1


async def test_a_schema_changes_while_it_is_served(workshop: Workshop) -> None:
    name = await workshop.define(version("v1", schema(a=TEXT)))
    await workshop.served(workshop.path())
    await workshop.create(workshop.tool("one", {"a": "1", "b": "lost"}))
    both = {"spec": {"versions": [version("v1", schema(a=TEXT, b=TEXT))]}}
    await workshop.client.raw("PATCH", f"{CRDS}/{name}", both, content_type=MERGE)
    async with asyncio.timeout(120):
        number = 0
        while True:
            number += 1
            made = await workshop.create(workshop.tool(f"two-{number}", {"a": "1", "b": "kept"}))
            if made["spec"] == {"a": "1", "b": "kept"}:
                break
            await asyncio.sleep(0.1)
    one = await workshop.served(workshop.path("one"))
    assert one["spec"] == {"a": "1"}


async def test_an_object_is_seen_in_every_version_that_is_served(workshop: Workshop) -> None:
    old = version("v1beta1", schema(a=TEXT), storage=False)
    await workshop.define(version("v1", schema(a=TEXT)), old)
    await workshop.served(workshop.path(version="v1beta1"))
    await workshop.create(workshop.tool("one", {"a": "1"}, "v1beta1"), "v1beta1")
    for served in ("v1", "v1beta1"):
        one = await workshop.served(workshop.path("one", served))
        assert one["apiVersion"] == f"{workshop.group}/{served}"
        assert one["spec"] == {"a": "1"}
        listed = await workshop.served(workshop.path(version=served))
        assert [each["apiVersion"] for each in listed["items"]] == [one["apiVersion"]]


async def test_a_kind_whose_names_are_taken_is_not_served(workshop: Workshop) -> None:
    first = await workshop.define(version("v1", schema(a=TEXT)))
    await workshop.until(first, lambda crd: condition(crd, "Established").get("status") == "True")
    second = await workshop.define(version("v1", schema(a=TEXT)), plural="utensils")
    crd = await workshop.until(second, lambda crd: bool(condition(crd, "NamesAccepted")))
    assert condition(crd, "NamesAccepted")["status"] == "False"
    assert "is already in use" in condition(crd, "NamesAccepted")["message"]
    assert condition(crd, "Established")["status"] == "False"
    with pytest.raises(NotFound):
        await workshop.client.raw("GET", workshop.path(plural="utensils"))


async def test_a_crd_goes_with_its_objects(workshop: Workshop) -> None:
    name = await workshop.define(version("v1", schema(a=TEXT)))
    await workshop.served(workshop.path())
    await workshop.create(workshop.tool("one", {"a": "1"}))
    held = workshop.tool("held", {"a": "1"}, finalizers=["example.org/hold"])
    await workshop.create(held)
    await workshop.client.raw("DELETE", f"{CRDS}/{name}")
    crd = await workshop.until(name, lambda crd: bool(condition(crd, "Terminating")))
    assert crd["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert condition(crd, "Terminating")["status"] == "True"
    async with asyncio.timeout(120):
        while True:
            left = msgspec.json.decode(await workshop.client.raw("GET", workshop.path()))
            names = [each["metadata"]["name"] for each in left["items"]]
            if names == ["held"] and left["items"][0]["metadata"].get("deletionTimestamp"):
                break
            await asyncio.sleep(0.05)
    with pytest.raises(
        ApiError, match="not allowed while custom resource definition is terminating"
    ):
        await workshop.create(workshop.tool("late", {"a": "1"}))
    free = {"metadata": {"finalizers": None}}
    await workshop.client.raw("PATCH", workshop.path("held"), free, content_type=MERGE)
    await workshop.until_gone(name)
    async with asyncio.timeout(120):
        while True:
            try:
                await workshop.client.raw("GET", workshop.path())
            except NotFound:
                break
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"group": "another.example"}, "spec.group"),
        ({"scope": "Cluster"}, "spec.scope"),
    ],
    ids=str,
)
async def test_what_a_kind_is_cannot_change(workshop: Workshop, change: Json, field: str) -> None:
    name = await workshop.define(version("v1", schema(a=TEXT)))
    await workshop.until(name, lambda crd: condition(crd, "Established").get("status") == "True")
    with pytest.raises(ApiError) as caught:
        await workshop.client.raw("PATCH", f"{CRDS}/{name}", {"spec": change}, content_type=MERGE)
    assert field in {cause.field for cause in caught.value.causes}


async def test_a_client_is_told_what_to_fill_in_of_a_path(workshop: Workshop) -> None:
    """Generators of clients and of random requests gave up on paths whose blanks nobody had named."""
    await workshop.define(version("v1", schema(a=TEXT)))
    document = await workshop.served(f"/openapi/v3/apis/{workshop.group}/v1")
    path = f"/apis/{workshop.group}/v1/namespaces/{{namespace}}/tools/{{name}}"
    blanks = [each for each in document["paths"][path]["parameters"] if each["in"] == "path"]
    assert {each["name"] for each in blanks} == {"name", "namespace"}
    assert all(each["required"] for each in blanks)


async def test_kubectl_is_told_which_patches_a_custom_resource_takes(workshop: Workshop) -> None:
    """It sends what it finds there: `kubectl apply` of a change failed when strategic patches were."""
    await workshop.define(version("v1", schema(a=TEXT)))
    document = await workshop.served(f"/openapi/v3/apis/{workshop.group}/v1")
    path = f"/apis/{workshop.group}/v1/namespaces/{{namespace}}/tools/{{name}}"
    taken = document["paths"][path]["patch"]["requestBody"]["content"]
    assert {each for each in taken if not each.endswith("+cbor")} == {
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    }
