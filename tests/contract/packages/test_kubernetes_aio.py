"""The asyncio half of the `kubernetes` package: it has a transport of its own."""

import asyncio
from typing import Any

import pytest
from kubernetes.aio import client, dynamic, watch
from kubernetes.aio.client import exceptions
from tests.contract.lamps import a_lamp

from kubevirt.api.resource import Resource

APPLY = "application/apply-patch+yaml"
LIMIT_S = 120


def a_config_map(name: str, **data: str) -> Any:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


async def test_a_config_map_lives_its_life(aio_api: Any, namespace: str) -> None:
    core = client.CoreV1Api(aio_api)
    made = await core.create_namespaced_config_map(namespace, a_config_map("one", a="1"))
    made.data["b"] = "2"
    replaced = await core.replace_namespaced_config_map("one", namespace, made)
    assert replaced.data == {"a": "1", "b": "2"}
    patched = await core.patch_namespaced_config_map("one", namespace, {"data": {"a": None}})
    assert patched.data == {"b": "2"}
    with pytest.raises(exceptions.ConflictException):
        await core.replace_namespaced_config_map("one", namespace, made)
    await core.delete_namespaced_config_map("one", namespace)
    with pytest.raises(exceptions.NotFoundException):
        await core.read_namespaced_config_map("one", namespace)


async def test_what_is_applied_is_owned(aio_api: Any, namespace: str) -> None:
    core = client.CoreV1Api(aio_api)
    said = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}

    async def applied(by: str, value: str) -> Any:
        body = {**said, "metadata": {"name": "owned"}, "data": {"a": value}}
        return await core.patch_namespaced_config_map(
            "owned", namespace, body, field_manager=by, _content_type=APPLY
        )

    made = await applied("ann", "1")
    assert made.metadata.managed_fields[0].operation == "Apply"
    with pytest.raises(exceptions.ConflictException):
        await applied("bob", "2")


async def test_a_watch_tells_what_happens_while_it_does(aio_api: Any, namespace: str) -> None:
    core = client.CoreV1Api(aio_api)
    events = []
    async with asyncio.timeout(LIMIT_S), watch.Watch() as watching:
        stream = watching.stream(
            core.list_namespaced_config_map, namespace, field_selector="metadata.name=one"
        )
        await core.create_namespaced_config_map(namespace, a_config_map("one"))
        async for event in stream:
            events.append(event["type"])
            if event["type"] == "ADDED":
                await core.patch_namespaced_config_map("one", namespace, {"data": {"a": "1"}})
            elif event["type"] == "MODIFIED":
                await core.delete_namespaced_config_map("one", namespace)
            else:
                break
    assert events == ["ADDED", "MODIFIED", "DELETED"]


async def test_the_dynamic_client_finds_and_applies(
    aio_api: Any, namespace: str, lamps: Resource[dict[str, Any]]
) -> None:
    found = await dynamic.DynamicClient(aio_api)
    kind = await found.resources.get(api_version=lamps.api_version, kind=lamps.kind)
    body = {"apiVersion": lamps.api_version, "kind": lamps.kind, **a_lamp("desk")}
    made = await kind.server_side_apply(body=body, namespace=namespace, field_manager="ann")
    assert made.spec.watts == 40
    listed = await kind.get(namespace=namespace)
    assert [each.metadata.name for each in listed.items] == ["desk"]
