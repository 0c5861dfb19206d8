"""Nodes that run nothing: they play scheduler, kubelet and virt-handler through the API, for thousands of machines.

    async with FakeNodes(client, clock, count=3) as nodes:
        ...                                   # machines come to Running, and end when they are deleted
        nodes.guests.power_off(key)           # as `poweroff` does in a guest
        nodes.pods.crashing.add("testvm")     # launchers of this instance end at once

What virt-handler would say of a guest is said by its own decision, `virt.instance.guest`. A node here has a lease that is
renewed, so a node controller leaves it alone.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Final, Self

from kubevirt.api.scheme import LEASES, NODES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.tasks import background
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.patches import MergePatch, StrategicMergePatch
from kubevirt.testing.fake_guests import FakeGuests
from kubevirt.testing.fake_pods import FakePods

LEASES_OF_NODES: Final = "kube-node-lease"
BEAT_S: Final = 8.0


class FakeNodes:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        *,
        count: int = 1,
        prefix: str = "fake",
        workers: int = 16,
    ) -> None:
        """`prefix` keeps the nodes of several drivers on one server apart."""
        self.names: Sequence[str] = tuple(f"{prefix}-{number:02}" for number in range(1, count + 1))
        self.pods = FakePods(client, clock, self.names, workers=workers)
        self.guests = FakeGuests(client, clock, self.pods, workers=workers)
        self._client = client
        self._clock = clock
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for name in self.names:
            await self._register(name)
            self._stack.push_async_callback(self._forget, name)
        work = background(self.pods.run(), self.guests.run(), self._beat())
        await self._stack.enter_async_context(work)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    async def _forget(self, name: str) -> None:
        with suppress(NotFound):
            await self._client.delete(LEASES, name, LEASES_OF_NODES)
        with suppress(NotFound):
            await self._client.delete(NODES, name)

    async def _register(self, name: str) -> None:
        labels = {"kubernetes.io/hostname": name, "kubevirt.io/schedulable": "true"}
        with suppress(AlreadyExists):
            await self._client.create(NODES.raw, {"metadata": {"name": name, "labels": labels}})
        now = self._clock.now().replace(microsecond=0)
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "FakeNode",
            "message": "it runs nothing",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        patch = StrategicMergePatch({"status": {"conditions": [ready]}})
        await self._client.patch_status(NODES, name, patch)
        lease = {"metadata": {"name": name}, "spec": self._lease(name)}
        with suppress(AlreadyExists):
            await self._client.create(LEASES.raw, lease, LEASES_OF_NODES)

    def _lease(self, name: str) -> dict[str, Any]:
        now = self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now}

    async def _beat(self) -> None:
        while True:
            await self._clock.sleep(BEAT_S)
            for name in self.names:
                patch = MergePatch({"spec": self._lease(name)})
                with suppress(NotFound, Retry):
                    await self._client.patch(LEASES, name, patch, LEASES_OF_NODES)
