"""A server, and storage at work on a folder of the test's own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.component.embedded.home_server import NODE, a_pod_spec, home_server

from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim
from kubevirt.api.scheme import EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.embedded.storage.controller import StorageController
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch

T = TypeVar("T")
LIMIT_S = 60.0


class World:
    def __init__(self, client: Client, home: Path) -> None:
        self.client = client
        self.home = home
        self.volumes = home / "volumes"
        self.volumes.mkdir()
        self.loops = LoopDevices(self.volumes, home / "nodes")

    def storage(self) -> StorageController:
        return StorageController(self.client, self.volumes, self.loops, SystemClock())

    async def claim(self, name: str, size: str = "1Gi", **spec: Any) -> PersistentVolumeClaim:
        body = {
            "metadata": {"name": name},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": size}},
                **spec,
            },
        }
        return await self.client.create(PERSISTENT_VOLUME_CLAIMS, body, "default")

    async def volume(self, name: str, size: str = "1Gi", **spec: Any) -> PersistentVolume:
        body = {
            "metadata": {"name": name},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": size},
                "hostPath": {"path": f"/data/{name}"},
                **spec,
            },
        }
        return await self.client.create(PERSISTENT_VOLUMES, body)

    async def select_node(self, claim: str, node: str = NODE) -> None:
        """As a scheduler does."""
        note = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": node}}}
        await self.client.patch(PERSISTENT_VOLUME_CLAIMS, claim, MergePatch(note), "default")

    async def pod(self, name: str, claim: str, node: str | None = NODE) -> None:
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
        spec = a_pod_spec(volumes=volumes, **({"nodeName": node} if node else {}))
        await self.client.create(PODS, {"metadata": {"name": name}, "spec": spec}, "default")

    async def claim_now(self, name: str) -> PersistentVolumeClaim | None:
        try:
            return await self.client.get(PERSISTENT_VOLUME_CLAIMS, name, "default")
        except NotFound:
            return None

    async def volume_now(self, name: str) -> PersistentVolume | None:
        try:
            return await self.client.get(PERSISTENT_VOLUMES, name)
        except NotFound:
            return None

    async def claim_in(self, name: str, phase: str) -> PersistentVolumeClaim:
        async def found() -> PersistentVolumeClaim | None:
            claim = await self.claim_now(name)
            return claim if claim and claim.status.phase == phase else None

        return await until(found, f"claim {name} is {phase}")

    async def volume_in(self, name: str, phase: str) -> PersistentVolume:
        async def found() -> PersistentVolume | None:
            volume = await self.volume_now(name)
            return volume if volume and volume.status.phase == phase else None

        return await until(found, f"volume {name} is {phase}")

    async def bound_volume(self, claim: str) -> PersistentVolume:
        bound = await self.claim_in(claim, "Bound")
        return await self.volume_in(bound.spec.volume_name or "", "Bound")

    async def events(self, about: str, reason: str) -> list[str]:
        found = await self.client.list(EVENTS, "default")
        return [
            each.message or ""
            for each in found.items
            if each.involved_object.name == about and each.reason == reason
        ]

    async def event(self, about: str, reason: str) -> str:
        async def found() -> str | None:
            return next(iter(await self.events(about, reason)), None)

        return await until(found, f"an event {reason} about {about}")

    async def gone(self, what: Callable[[str], Awaitable[object]], name: str) -> None:
        async def is_gone() -> bool | None:
            return True if await what(name) is None else None

        await until(is_gone, f"{name} is gone")


async def until(look: Callable[[], Awaitable[T | None]], what: str) -> T:
    try:
        async with asyncio.timeout(LIMIT_S):
            while (found := await look()) is None:  # noqa: ASYNC110  # the server is asked
                await asyncio.sleep(0.02)
            return found
    except TimeoutError:
        raise AssertionError(f"not within {LIMIT_S:g} s: {what}") from None


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """With a server, and nobody at work yet."""
    async with home_server(tmp_path) as server, server.client() as client:
        home = tmp_path / "home"
        home.mkdir()
        yield World(client, home)


@pytest.fixture
async def storage(world: World) -> AsyncIterator[World]:
    async with background(world.storage().run()):
        yield world
