"""Our informer, keeping as much of each VMI as `--keep` says."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from typing import Any

from bench.contenders import subset
from bench.protocol import Stopwatch, arguments, settle, tell, wait_for_driver
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.clock import SystemClock
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.cache.reflector import ReflectorSettings
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.informer import Informer
from kubevirt.kube.source import ObjectList, Source
from kubevirt.kube.watch import WatchEvent

KINDS: dict[str, Resource[Any]] = {
    "subset": VIRTUAL_MACHINE_INSTANCES.read_as(subset.Vmi),
    "full": VIRTUAL_MACHINE_INSTANCES,
    "metadata": VIRTUAL_MACHINE_INSTANCES.metadata_only,
}


class ListedAt:
    """A source whose list is of the past, so that a watch after it has something to catch up with."""

    def __init__(self, client: Client, version: str) -> None:
        self._client = client
        self._version = version

    def pages(
        self, resource: Resource[Any], namespace: str | None = None, **options: Any
    ) -> AsyncGenerator[ObjectList[Any], None]:
        past = {"resource_version": self._version, "resource_version_match": "Exact"}
        return self._client.pages(resource, namespace, **{**options, **past})

    def watch(
        self, resource: Resource[Any], namespace: str | None = None, **options: Any
    ) -> AsyncGenerator[WatchEvent[Any], None]:
        return self._client.watch(resource, namespace, **options)


class FinishLine:
    """Notes when the last of the expected changes was seen."""

    def __init__(self, last: str) -> None:
        self.updates = 0
        self.reached = asyncio.Event()
        self._last = last

    def __call__(self, change: Change[Any]) -> None:
        if change.is_added:
            return
        self.updates += 1
        if change.object.metadata.resource_version == self._last:
            self.reached.set()


async def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--keep", choices=KINDS, default="subset")
    asked = parser.parse_args()
    async with Client(kubeconfig.load([asked.kubeconfig], os.environ)) as client:
        await client.raw("GET", "/version")
        source: Source = ListedAt(client, asked.list_at) if asked.list_at else client
        resource = KINDS[asked.keep]
        informer = Informer(
            source,
            resource,
            clock=SystemClock(),
            indexes={"node": node_of} if asked.keep != "metadata" else {},
            settings=ReflectorSettings(streams_list=not asked.list_at),
        )
        await measure(informer, asked.until)


def node_of(vmi: Any) -> str | None:
    name: str | None = vmi.status.node_name
    return name


async def measure(informer: Informer[Any], until: str) -> None:
    finish = FinishLine(until)
    informer.add_handler(finish)
    settle()
    tell("ready")
    wait_for_driver()
    async with asyncio.TaskGroup() as tasks:
        stopwatch = Stopwatch()
        running = tasks.create_task(informer.run())
        await informer.wait_synced()
        tell("synced", objects=len(informer), counts=dict(informer.counts), **stopwatch.read())
        if until:
            stopwatch = Stopwatch()
            await finish.reached.wait()
            tell("followed", events=finish.updates, **stopwatch.read())
        else:
            settle()
            tell("settled")
            wait_for_driver()
        running.cancel()


if __name__ == "__main__":
    asyncio.run(main())
    sys.exit(0)
