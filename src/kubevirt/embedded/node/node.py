"""The node as a whole.

    async with Node(settings, client, neighbours, clock).running() as node:
        …                              # pods come and go
        await node.stop_all(30.0)      # the home goes down in peace

Leaving without `stop_all` leaves the containers as they are: whoever comes next finds them again.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from kubevirt.api.core.node import Node as NodeObject
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.service import Service
from kubevirt.api.scheme import NODES, PODS, SERVICES
from kubevirt.api.struct import Quantity
from kubevirt.base.boot import boot_id
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.embedded.node.lease import NodeLease
from kubevirt.embedded.node.parts import Neighbours, Parts
from kubevirt.embedded.node.pods import Pods
from kubevirt.embedded.node.registration import Registration
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key

COMPONENT: Final = "kubelet"
"""Who tells of what happens to pods: people and programs look for that name."""


class Node:
    def __init__(
        self, settings: NodeSettings, client: Client, neighbours: Neighbours, clock: Clock
    ) -> None:
        settings.pods.mkdir(mode=0o750, parents=True, exist_ok=True)
        (settings.root / "var/lib/kubelet/pods").mkdir(mode=0o750, parents=True, exist_ok=True)
        self._settings = settings
        name = settings.name
        self._pods_here: Informer[Pod] = Informer(
            client, PODS, clock=clock, field_selector=f"spec.nodeName={name}"
        )
        self._itself: Informer[NodeObject] = Informer(
            client, NODES, clock=clock, field_selector=f"metadata.name={name}"
        )
        self._services: Informer[Service] = Informer(client, SERVICES, clock=clock)
        self._recorder = EventRecorder(client, component=COMPONENT, host=name, clock=clock)
        self._registration = Registration(
            settings, client, neighbours.devices, neighbours.network, clock
        )
        self._lease = NodeLease(settings, client, clock)
        self.pods = Pods(
            Parts(
                settings=settings,
                client=client,
                clock=clock,
                recorder=self._recorder,
                neighbours=neighbours,
                services=self._all_services,
                node=self._own_object,
                boot_id=boot_id(),
            )
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Node"]:
        """Entered when the node is registered and ready, and every pod that was here is found again."""
        async with background(
            self._pods_here.run(), self._itself.run(), self._services.run(), self._recorder.run()
        ):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._register())
                tasks.create_task(self._pods_here.wait_synced())
                tasks.create_task(self._services.wait_synced())
            await self._see_itself()
            async with background(
                self.pods.run(), self._registration.run(), self._lease.run(self._registration)
            ):
                await asyncio.sleep(0)  # `run` of the pods has begun
                self._pods_here.add_handler(self.pods.changed)
                self.pods.find_orphans()
                self._itself.add_handler(self._learn)
                yield self

    async def stop_all(self, ceiling_s: float) -> None:
        """All containers, each with its grace period, but no longer than that."""
        await self.pods.stop_all(ceiling_s)

    @property
    def allocatable(self) -> Mapping[str, Quantity]:
        """What pods may have of it, as its object says."""
        found = self._own_object()
        return found.status.allocatable if found else {}

    def look_again(self) -> None:
        """Devices have come or gone."""
        self._registration.look_again()

    async def _register(self) -> None:
        await self._registration.register()
        await self._lease.renew(self._registration.uid)

    async def _see_itself(self) -> None:
        """Its own object with what it offers, as others see it: pods are judged by it."""
        seen = asyncio.Event()

        def look(change: Change[NodeObject]) -> None:
            if change.new is not None and change.new.status.allocatable:
                seen.set()

        forget = self._itself.add_handler(look)
        try:
            await seen.wait()
        finally:
            forget()

    def _learn(self, change: Change[NodeObject]) -> None:
        if change.new is None:
            self._registration.forget()
        else:
            self._registration.learn(change.new)

    def _own_object(self) -> NodeObject | None:
        return self._itself.get(Key("", self._settings.name))

    def _all_services(self) -> Iterable[Service]:
        return list(self._services)
