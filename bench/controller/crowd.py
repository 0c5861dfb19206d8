"""A crowd of machines, as one sees it from outside: made, ready, gone."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from kubevirt.api.scheme import VIRTUAL_MACHINES
from kubevirt.api.struct import Struct
from kubevirt.base.clock import Clock
from kubevirt.components.controller.kept import KeptMetadata
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.informer import Informer
from kubevirt.testing.builders import a_machine

NAMESPACE: Final = "default"
AT_ONCE: Final = 16
LIMIT_S: Final = 1800.0


class SeenStatus(Struct, frozen=True, kw_only=True):
    ready: bool | None = None


class SeenMachine(Struct, frozen=True, kw_only=True):
    metadata: KeptMetadata = KeptMetadata()
    status: SeenStatus = SeenStatus()


class Crowd:
    def __init__(self, client: Client, clock: Clock, number: int, *, prefix: str = "vm") -> None:
        self.client = client
        self.clock = clock
        self.machines: Informer[SeenMachine] = Informer(
            client, VIRTUAL_MACHINES.read_as(SeenMachine), clock=clock, namespace=NAMESPACE
        )
        self._names = [f"{prefix}-{each:05}" for each in range(number)]
        self._ready: set[str] = set()
        self._changed = asyncio.Event()
        self.machines.add_handler(self._hear)

    def _hear(self, change: Change[SeenMachine]) -> None:
        name = change.object.metadata.name
        is_ready = change.new is not None and bool(change.new.status.ready)
        (self._ready.add if is_ready else self._ready.discard)(name)
        self._changed.set()

    async def come(self) -> None:
        """Until all are ready."""
        await self._each(self._create)
        await self._until(len(self._names))

    async def go(self) -> None:
        await self._each(self._delete)
        async with asyncio.timeout(LIMIT_S):
            while len(self.machines):
                await self._next()

    async def _until(self, ready: int) -> None:
        async with asyncio.timeout(LIMIT_S):
            while len(self._ready) < ready:
                await self._next()

    async def _next(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def _each(self, work: Callable[[str], Awaitable[None]]) -> None:
        names = iter(self._names)

        async def some() -> None:
            for name in names:
                await work(name)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(some())

    async def _create(self, name: str) -> None:
        vm = msgspec.to_builtins(a_machine(name, NAMESPACE, runStrategy="Always"))
        await self.client.create(self.machines.resource, vm, NAMESPACE)

    async def _delete(self, name: str) -> None:
        await self.client.delete(self.machines.resource, name, NAMESPACE)
