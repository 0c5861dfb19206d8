"""The async client of the `lightkube` package."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from lightkube import ApiError
from lightkube.core.exceptions import ObjectDeleted
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import PatchType

from kubevirt.api.resource import Resource

LIMIT_S = 120


def a_config_map(name: str, **data: str) -> Any:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


async def test_a_config_map_lives_its_life(async_light: Any) -> None:
    made = await async_light.create(a_config_map("one", a="1"))
    made.data["b"] = "2"
    assert (await async_light.replace(made)).data == {"a": "1", "b": "2"}
    patch = {"data": {"a": None}}
    patched = await async_light.patch(ConfigMap, "one", patch, patch_type=PatchType.MERGE)
    assert patched.data == {"b": "2"}
    applied = await async_light.apply(a_config_map("one", c="3"), field_manager="ann")
    assert applied.data == {"b": "2", "c": "3"}
    names = [each.metadata.name async for each in async_light.list(ConfigMap, chunk_size=1)]
    assert "one" in names
    await async_light.delete(ConfigMap, "one")
    with pytest.raises(ApiError) as refused:
        await async_light.get(ConfigMap, "one")
    assert refused.value.status.reason == "NotFound"


async def test_a_watch_tells_what_happens_while_it_does(
    async_light: Any, lamps: Resource[dict[str, Any]]
) -> None:
    lamp = create_namespaced_resource(lamps.group, lamps.version, lamps.kind, lamps.plural)
    await async_light.create(lamp(metadata=ObjectMeta(name="desk"), spec={"watts": 40}))
    seen = []
    async with asyncio.timeout(LIMIT_S), aclosing(async_light.watch(lamp)) as stream:
        async for type_, found in stream:
            seen.append((type_, found.spec["watts"]))
            if type_ == "ADDED":
                patch = {"spec": {"watts": 60}}
                await async_light.patch(lamp, "desk", patch, patch_type=PatchType.MERGE)
            elif type_ == "MODIFIED":
                await async_light.delete(lamp, "desk")
            else:
                break
    assert seen == [("ADDED", 40), ("MODIFIED", 60), ("DELETED", 60)]


async def test_waiting_ends_when_the_object_is_gone(async_light: Any) -> None:
    container = Container(name="main", image="nothing")
    spec = PodSpec(containers=[container], terminationGracePeriodSeconds=0)
    await async_light.create(Pod(metadata=ObjectMeta(name="waited"), spec=spec))

    async def wait() -> None:
        with pytest.raises(ObjectDeleted, match="pods/waited was unexpectedly deleted"):
            await async_light.wait(Pod, "waited", for_conditions=["Ready"])

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        group.create_task(wait())
        # It may be watched before or after: a pod that was never there is waited for too.
        async with aclosing(async_light.watch(Pod, fields={"metadata.name": "waited"})) as stream:
            await anext(stream)
        await async_light.delete(Pod, "waited")
