"""What is too large, too late, or not there any more: where a server draws the line, and what it says."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest
from tests.contract.lamps import CONFIG_MAPS, a_config_map
from tests.contract.test_crd_life import CRDS, MERGE, Workshop, version, workshop

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound

__all__ = ["workshop"]

MAPS = "/api/v1/namespaces/{namespace}/configmaps"
LAMPS = "/apis/house.example/v1/namespaces/{namespace}/lamps"
APPLY = "application/apply-patch+yaml"
ANYTHING: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
LIMIT_S = 120.0
# aiohttp warns of large bodies that are sent in one piece; here that is the point.
large = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")


async def refusal(
    client: Client, method: str, path: str, body: Any = None, type_: str = "", **params: str
) -> tuple[int, str, str]:
    with pytest.raises(ApiError) as caught:
        await client.raw(
            method, path, body, params=params, content_type=type_ or "application/json"
        )
    status = caught.value.status
    return status.code, status.reason, status.message


@large
async def test_a_body_beyond_three_megabytes_is_not_read(client: Client, namespace: str) -> None:
    path = MAPS.format(namespace=namespace)
    body = {"metadata": {"name": "one"}, "data": {"a": "x" * (3 << 20)}}
    found = await refusal(client, "POST", path, body)
    words = "Request entity too large: limit is 3145728"
    assert found == (413, "RequestEntityTooLarge", words)


@large
async def test_a_config_map_holds_a_megabyte(client: Client, namespace: str) -> None:
    path = MAPS.format(namespace=namespace)
    body = {"metadata": {"name": "one"}, "data": {"a": "x" * (1 << 20), "b": "x"}}
    found = await refusal(client, "POST", path, body)
    words = "[]: Too long: may not be more than 1048576 bytes"
    assert found == (422, "Invalid", f'ConfigMap "one" is invalid: {words}')


@large
async def test_an_object_beyond_one_and_a_half_megabytes_is_not_stored(workshop: Workshop) -> None:
    await workshop.define(version("v1", ANYTHING))
    await workshop.served(workshop.path())
    await workshop.create(workshop.tool("large", {"x": "x" * 1_500_000}))
    words = "etcdserver: request is too large"
    larger = workshop.tool("larger", {"x": "x" * 1_600_000})
    assert await refusal(workshop.client, "POST", workshop.path(), larger) == (500, "", words)
    patch = {"spec": {"y": "y" * 100_000}}
    found = await refusal(workshop.client, "PATCH", workshop.path("large"), patch, MERGE)
    assert found == (500, "", words)
    kept = msgspec.json.decode(await workshop.client.raw("GET", workshop.path("large")))
    assert list(kept["spec"]) == ["x"]


@pytest.mark.parametrize(
    "params",
    [{}, {"limit": "1"}, {"resourceVersionMatch": "Exact"}],
    ids=["any", "limited", "exact"],
)
async def test_a_version_of_the_future_is_waited_for_a_moment(
    client: Client, namespace: str, params: dict[str, str]
) -> None:
    path = MAPS.format(namespace=namespace)
    with pytest.raises(ApiError) as caught:
        await client.raw("GET", path, params={"resourceVersion": "999999999", **params})
    status = caught.value.status
    assert (status.code, status.reason) == (504, "Timeout")
    assert status.message.startswith("Timeout: Too large resource version: 999999999, current: ")
    assert status.details
    assert status.details.retry_after_seconds == 1
    [cause] = status.details.causes
    assert (cause.reason, cause.message) == (
        "ResourceVersionTooLarge",
        "Too large resource version",
    )


async def test_a_version_of_the_near_future_is_answered_when_it_comes(
    client: Client, namespace: str
) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    wanted = str(int(made["metadata"]["resourceVersion"]) + 1)
    path = MAPS.format(namespace=namespace)
    params = {"resourceVersion": wanted}
    reading = asyncio.create_task(client.raw("GET", path, params=params))
    await client.create(CONFIG_MAPS, a_config_map("two"), namespace)
    async with asyncio.timeout(LIMIT_S):
        found = msgspec.json.decode(await reading)
    assert int(found["metadata"]["resourceVersion"]) >= int(wanted)


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("xxx", "invalid character 'Ç' looking for beginning of value"),
        ("eyJ2IjoiIn0", "server does not recognize this encoded version "),
        ("eyJ2IjoidjkifQ", "server does not recognize this encoded version v9"),
    ],
)
async def test_a_page_that_nobody_gave(
    client: Client, namespace: str, token: str, words: str
) -> None:
    path = MAPS.format(namespace=namespace)
    params = {"limit": "1", "continue": token}
    found = await refusal(client, "GET", path, **params)
    words = f"invalid continue token: continue key is not valid: {words}"
    assert found == (400, "BadRequest", words)


async def test_a_time_limit_that_is_none(client: Client, namespace: str) -> None:
    path = MAPS.format(namespace=namespace)
    for method in ("GET", "DELETE"):
        found = await refusal(client, method, path, timeout="soon")
        words = 'invalid timeout specified in the request URL - time: invalid duration "soon"'
        assert found == (400, "BadRequest", words)


async def test_the_scale_of_a_custom_resource_cannot_be_applied(
    client: Client, namespace: str, lamps: Resource[dict[str, Any]]
) -> None:
    """Kubernetes fails to, and so do we: whoever scales by apply must not believe that it worked."""
    path = LAMPS.format(namespace=namespace)
    lamp = {"apiVersion": "house.example/v1", "kind": "Lamp", "spec": {"watts": 1}}
    await client.raw("POST", path, {**lamp, "metadata": {"name": "hall"}})
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 2}}
    found = await refusal(client, "PATCH", f"{path}/hall/scale", scale, APPLY, fieldManager="me")
    assert found[:2] == (500, "")
    assert found[2].startswith("failed to create manager for existing fields: failed to convert")
    found = await refusal(client, "PATCH", f"{path}/none/scale", scale, APPLY, fieldManager="me")
    assert found == (404, "NotFound", 'lamps.house.example "none" not found')


# The end of a kind


class Watching:
    """What a watch tells, from the first object until it ends."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._has_begun = asyncio.Event()
        self._seen: list[tuple[str, str]] = []

    async def run(self) -> None:
        workshop = self._workshop
        tools: Resource[dict[str, Any]] = Resource(
            workshop.group, "v1", "tools", "Tool", True, dict[str, Any]
        )
        watch = workshop.client.watch(
            tools, workshop.namespace, resource_version=None, timeout_s=int(2 * LIMIT_S)
        )
        async for event in watch:
            if isinstance(event.object, dict):
                self._seen.append((event.type, event.object["metadata"]["name"]))
                self._has_begun.set()

    async def seen_after(self, change: Awaitable[object]) -> list[tuple[str, str]]:
        async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(self.run())
            await self._has_begun.wait()
            await change
        return self._seen


async def test_a_watch_ends_with_its_kind(workshop: Workshop) -> None:
    """After it has told of the last objects."""
    name = await workshop.define(version("v1", ANYTHING))
    await workshop.served(workshop.path())
    await workshop.create(workshop.tool("one", {}))
    change = workshop.client.raw("DELETE", f"{CRDS}/{name}")
    seen = await Watching(workshop).seen_after(change)
    assert seen == [("ADDED", "one"), ("DELETED", "one")]
    await workshop.until_gone(name)
    with pytest.raises(NotFound):
        await workshop.client.raw("GET", workshop.path())


async def test_a_watch_ends_when_its_kind_becomes_another(workshop: Workshop) -> None:
    name = await workshop.define(version("v1", ANYTHING))
    await workshop.served(workshop.path())
    await workshop.create(workshop.tool("one", {}))
    versions = [version("v1", ANYTHING), version("v2", ANYTHING, storage=False)]
    patch = {"spec": {"versions": versions}}
    change = workshop.client.raw("PATCH", f"{CRDS}/{name}", patch, content_type=MERGE)
    assert await Watching(workshop).seen_after(change) == [("ADDED", "one")]


async def test_a_list_is_watched_unless_the_query_says_no(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    path = MAPS.format(namespace=namespace)
    beginnings = {"0": b'{"kind":"ConfigMapList"', "f": b'{"type":"ADDED"'}
    beginnings |= {"fAlSe": beginnings["0"], "F": beginnings["f"], "x": beginnings["f"]}
    for said, beginning in beginnings.items():
        answer = await client.raw("GET", path, params={"watch": said, "timeoutSeconds": "1"})
        assert answer.startswith(beginning), said


async def test_a_limit_below_nothing_is_none(client: Client, namespace: str) -> None:
    for name in ("one", "two"):
        await client.create(CONFIG_MAPS, a_config_map(name), namespace)
    path = MAPS.format(namespace=namespace)
    answer = await client.raw("GET", path, params={"limit": "-1"})
    found = {each["metadata"]["name"] for each in msgspec.json.decode(answer)["items"]}
    assert {"one", "two"} <= found


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, "metadata.name: Required value: name or generateName is required"),
        ({"name": "a/b"}, "metadata.name: Invalid value: \"a/b\": may not contain '/'"),
    ],
    ids=str,
)
async def test_an_event_has_a_name_that_can_be_asked_for(
    client: Client, namespace: str, metadata: dict[str, str], words: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/events"
    event = {"metadata": metadata, "involvedObject": {"namespace": namespace}}
    code, reason, message = await refusal(client, "POST", path, event)
    assert (code, reason) == (422, "Invalid")
    assert message.endswith(f"is invalid: {words}")


@pytest.mark.parametrize("path", [MAPS, f"{MAPS}/one", "/version"])
async def test_heads_without_bodies_are_not_served(
    client: Client, namespace: str, path: str
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    with pytest.raises(ApiError) as caught:
        await client.raw("HEAD", path.format(namespace=namespace))
    assert caught.value.status.code == 405


@pytest.mark.parametrize(
    ("grace_s", "end"),
    [(10**11, "2272-"), (9_223_372_037, "1734-"), (2**53, "2173-")],
    ids=str,
)
async def test_a_grace_without_end(client: Client, namespace: str, grace_s: int, end: str) -> None:
    """Go's durations begin anew after three hundred years, and nobody minds."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    spec = {"nodeName": "none", "containers": [{"name": "a", "image": "b"}]}
    metadata = {"name": "one", "finalizers": ["example.org/hold"]}
    await client.raw("POST", path, {"metadata": metadata, "spec": spec})
    answer = await client.raw("DELETE", f"{path}/one", {"gracePeriodSeconds": grace_s})
    assert msgspec.json.decode(answer)["metadata"]["deletionTimestamp"].startswith(end)
    await client.raw("PATCH", f"{path}/one", {"metadata": {"finalizers": None}}, content_type=MERGE)
    await client.raw("DELETE", f"{path}/one", {"gracePeriodSeconds": 0})
