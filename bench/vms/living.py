"""Objects brought about, waited for and taken away, as a client sees it: by a watch."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import aclosing
from typing import Any, Final

from bench.vms.machines import Object
from kubevirt.api import scheme
from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.watch import EventType

LIMIT_S: Final = 240.0
NAMESPACE: Final = "default"
VMIS: Final = scheme.VIRTUAL_MACHINE_INSTANCES.raw
VMS: Final = scheme.VIRTUAL_MACHINES.raw

Holds = Callable[[Object], bool]


def runs(found: Object) -> bool:
    return bool(found.get("status", {}).get("phase") == "Running")


def is_stopped(found: Object) -> bool:
    return bool(found.get("status", {}).get("printableStatus") == "Stopped")


def has(condition: str) -> Holds:
    def holds(found: Object) -> bool:
        conditions = found.get("status", {}).get("conditions", [])
        return any(each["type"] == condition and each["status"] == "True" for each in conditions)

    return holds


async def create(client: Client, resource: Resource[Object], wanted: Iterable[Object]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for each in wanted:
            tasks.create_task(client.create(resource, each, NAMESPACE))


async def started(
    client: Client, resource: Resource[Object], wanted: Collection[Object], holds: Holds
) -> tuple[float, float]:
    """From the first request until a watch tells it of the last: both by the wall clock."""
    names = [each["metadata"]["name"] for each in wanted]
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        version = (await client.list(resource, NAMESPACE)).resource_version
        waiting = tasks.create_task(_all(client, resource, names, holds, version))
        began = time.time()
        await create(client, resource, wanted)
        return began, await waiting


async def until(client: Client, resource: Resource[Object], name: str, holds: Holds) -> float:
    """When it became so, by the wall clock."""
    async with asyncio.timeout(LIMIT_S):
        return await _all(client, resource, [name], holds, None)


async def _all(
    client: Client,
    resource: Resource[Object],
    names: Iterable[str],
    holds: Holds,
    version: str | None,
) -> float:
    """A watch that the server ends is begun anew, with all that there is."""
    missing = set(names)
    while True:
        watch = client.watch(resource, NAMESPACE, resource_version=version)
        async with aclosing(watch) as events:
            async for event in events:
                found: Any = event.object
                if event.type is EventType.DELETED or not isinstance(found, dict):
                    continue
                if "metadata" in found and holds(found):
                    missing.discard(found["metadata"]["name"])
                if not missing:
                    return time.time()
        version = None


async def end(client: Client, resource: Resource[Object], names: Iterable[str]) -> None:
    """Returns when nothing is left of them, their pods included."""
    async with asyncio.timeout(LIMIT_S):
        for name in names:
            await client.delete(resource, name, NAMESPACE)
        for kind in (VMS, VMIS, scheme.PODS.raw):
            while (await client.list(kind, NAMESPACE)).items:  # noqa: ASYNC110  # nobody measures this
                await asyncio.sleep(0.05)
