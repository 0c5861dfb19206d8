"""What is served, here and elsewhere, in one directory: for programs, and for people with kubectl."""

from pathlib import Path
from typing import Any, Protocol

from tests.contract.aggregation.conftest import (
    API_SERVICES,
    LIMIT_S,
    Registry,
    Start,
    bundle,
    external_name,
)
from tests.contract.aggregation.door import Door
from tests.contract.aggregation.extension import DISCOVERY, VERBS, Extension
from tests.contract.conftest import Server

from clusterup import waiting

MERGE = "application/merge-patch+json"


class Kubectl(Server, Protocol):
    async def run_kubectl(
        self, *words: str, stdin: str = ..., kubeconfig: Path | None = ..., check: bool = ...
    ) -> Any: ...


async def listed(door: Door, group: str) -> Any:
    """A group in aggregated discovery; None if it is not there."""
    document = await door.json("/apis", headers={"Accept": DISCOVERY})
    found = (each for each in document["items"] if each["metadata"]["name"] == group)
    return next(found, None)


async def until_listed(door: Door, group: str, freshness: str) -> Any:
    found: Any = None

    async def has_it() -> bool:
        nonlocal found
        found = await listed(door, group)
        return bool(found and found["versions"][0].get("freshness") == freshness)

    await waiting.until(has_it, limit_s=LIMIT_S, what=f"{group} is {freshness}")
    return found


async def test_a_group_is_listed_among_the_others(toys: Extension, door: Door) -> None:
    async def is_listed() -> bool:
        groups = (await door.json("/apis"))["groups"]
        return any(each["name"] == toys.group for each in groups)

    await waiting.until(is_listed, limit_s=LIMIT_S, what="the group is listed")
    version = {"groupVersion": f"{toys.group}/v1", "version": "v1"}
    expected = {"name": toys.group, "versions": [version], "preferredVersion": version}
    found = next(
        each for each in (await door.json("/apis"))["groups"] if each["name"] == toys.group
    )
    assert found == expected
    document = await door.json(f"/apis/{toys.group}")
    assert document == {"kind": "APIGroup", "apiVersion": "v1", **expected}


async def test_a_callee_lists_its_own_resources(toys: Extension, door: Door) -> None:
    document = await door.json(toys.path)
    assert [each["name"] for each in document["resources"]] == ["toys", "toys/echo"]


async def test_everything_is_listed_in_one_document(toys: Extension, door: Door) -> None:
    found = await until_listed(door, toys.group, "Current")
    kind = {"group": "", "version": "", "kind": "Toy"}
    assert found["versions"] == [
        {
            "version": "v1",
            "resources": [
                {
                    "resource": "toys",
                    "responseKind": kind,
                    "scope": "Namespaced",
                    "singularResource": "toy",
                    "verbs": VERBS,
                    "shortNames": ["ty"],
                    "subresources": [
                        {"subresource": "echo", "responseKind": kind, "verbs": ["get"]}
                    ],
                }
            ],
            "freshness": "Current",
        }
    ]


async def test_a_callee_that_knows_only_the_old_way_is_listed_as_well(
    registry: Registry, start: Start, door: Door
) -> None:
    extension = await start(knows_aggregated=False)
    await registry.create_service("toys", external_name())
    await registry.register(extension.group, extension.port, caBundle=bundle(extension))
    found = await until_listed(door, extension.group, "Current")
    kind = {"group": "", "version": "", "kind": "Toy"}
    assert found["versions"][0]["resources"] == [
        {
            "resource": "toys",
            "responseKind": kind,
            "scope": "Namespaced",
            "singularResource": "toy",
            "verbs": VERBS,
            "shortNames": ["ty"],
            "subresources": [{"subresource": "echo", "responseKind": kind, "verbs": ["get"]}],
        }
    ]


async def test_who_is_away_is_stale_and_takes_nothing_from_others(
    registry: Registry, door: Door
) -> None:
    group = f"nobody.{registry.namespace}.example"
    name = await registry.register(group, 443, "nobody")
    await registry.until(name, "ServiceNotFound")
    found = await until_listed(door, group, "Stale")
    assert found["versions"] == [{"version": "v1", "freshness": "Stale"}]
    core = await listed(door, "apps")
    assert core["versions"][0]["freshness"] == "Current"
    assert core["versions"][0]["resources"]
    groups = (await door.json("/apis"))["groups"]
    assert group in [each["name"] for each in groups]


async def test_who_goes_away_becomes_stale(registry: Registry, toys: Extension, door: Door) -> None:
    await until_listed(door, toys.group, "Current")
    await registry.client.raw("DELETE", f"/api/v1/namespaces/{registry.namespace}/services/toys")
    await until_listed(door, toys.group, "Stale")


async def test_who_is_no_longer_registered_is_no_longer_listed(
    registry: Registry, toys: Extension, door: Door
) -> None:
    await until_listed(door, toys.group, "Current")
    await registry.client.raw("DELETE", f"{API_SERVICES}/v1.{toys.group}")

    async def is_gone() -> bool:
        names = [each["name"] for each in (await door.json("/apis"))["groups"]]
        return toys.group not in names and await listed(door, toys.group) is None

    await waiting.until(is_gone, limit_s=LIMIT_S, what="the group is gone")
    for path in (toys.path, toys.toy("ball"), f"/apis/{toys.group}"):
        async with door.get(path) as answer:
            assert answer.status == 404


async def test_groups_stand_in_the_order_of_their_priority(
    registry: Registry, toys: Extension, door: Door
) -> None:
    await until_listed(door, toys.group, "Current")
    other = f"first.{registry.namespace}.example"
    await registry.register(other, 443, "nobody", groupPriorityMinimum=17650)
    await until_listed(door, other, "Stale")
    document = await door.json("/apis", headers={"Accept": DISCOVERY})
    names = [each["metadata"]["name"] for each in document["items"]]
    wanted = ["apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", other]
    wanted += ["authorization.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io"]
    wanted += ["admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io"]
    wanted += ["coordination.k8s.io", "discovery.k8s.io", toys.group]
    assert [name for name in names if name in wanted] == wanted


async def test_open_api_of_a_callee_is_found_through_the_index(toys: Extension, door: Door) -> None:
    own = toys.path.removeprefix("/")
    paths: Any = {}

    async def is_there() -> bool:
        nonlocal paths
        paths = (await door.json("/openapi/v3"))["paths"]
        return own in paths

    await waiting.until(is_there, limit_s=LIMIT_S, what="the index has it")
    assert paths[own] == {"serverRelativeURL": f"/openapi/v3/{own}?hash=17"}
    document = await door.json(paths[own]["serverRelativeURL"])
    assert list(document["components"]["schemas"]) == [toys.definition]
    assert "api/v1" in paths


async def test_open_api_v2_of_all_is_one_document(toys: Extension, door: Door) -> None:
    document: Any = {}

    async def is_there() -> bool:
        nonlocal document
        document = await door.json("/openapi/v2", headers={"Accept": "application/json"})
        return toys.definition in document["definitions"]

    await waiting.until(is_there, limit_s=LIMIT_S, what="the document has it")
    assert f"{toys.path}/namespaces/{{namespace}}/toys/{{name}}" in document["paths"]
    assert len(document["definitions"]) > 100


async def test_kubectl_cannot_tell_who_serves_what(
    server: Kubectl, registry: Registry, toys: Extension, door: Door
) -> None:
    await until_listed(door, toys.group, "Current")
    resources = await server.run_kubectl("api-resources", "--api-group", toys.group, "--no-headers")
    assert resources.stdout.split() == ["toys", "ty", f"{toys.group}/v1", "true", "Toy"]
    got = await server.run_kubectl("get", f"toys.{toys.group}", "-o", "name")
    assert got.stdout.split() == [f"toy.{toys.group}/ball", f"toy.{toys.group}/kite"]
    one = await server.run_kubectl("get", f"ty.{toys.group}", "ball", "-o", "jsonpath={.kind}")
    assert one.stdout == "Toy"
    raw = await server.run_kubectl("get", "--raw", toys.toy("ball"))
    assert '"kind": "Toy"' in raw.stdout
    table = await server.run_kubectl("get", "apiservices", f"v1.{toys.group}", "--no-headers")
    assert table.stdout.split()[:3] == [f"v1.{toys.group}", f"{registry.namespace}/toys", "True"]


async def test_kubectl_explains_what_others_serve(
    server: Kubectl, toys: Extension, door: Door
) -> None:
    await until_listed(door, toys.group, "Current")

    async def is_explained() -> bool:
        told = await server.run_kubectl(
            "explain", "toys.color", f"--api-version={toys.group}/v1", check=False
        )
        return "How it looks." in told.stdout

    await waiting.until(is_explained, limit_s=LIMIT_S, what="kubectl explains it")


async def test_kubectl_works_beside_one_that_is_away(
    server: Kubectl, registry: Registry, door: Door
) -> None:
    group = f"nobody.{registry.namespace}.example"
    name = await registry.register(group, 443, "nobody")
    await registry.until(name, "ServiceNotFound")
    await until_listed(door, group, "Stale")
    got = await server.run_kubectl("get", "namespaces", "-o", "name")
    assert "namespace/default" in got.stdout
    table = await server.run_kubectl("get", "apiservices", name, "--no-headers")
    assert table.stdout.split()[1:4] == [
        f"{registry.namespace}/nobody",
        "False",
        "(ServiceNotFound)",
    ]
