"""A server, a node's folder, and the volumes of its pods. Mounts and loop devices of a test go with it."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.home_server import NODE, HomeServer, a_pod_spec, home_server

from kubevirt.api.core.pod import Pod
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import CONFIG_MAPS, PODS, SECRETS
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.neighbours import Image, NotNow
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.embedded.node.volumes.volumes import Volumes
from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.host import mounts
from kubevirt.kube.client import Client
from kubevirt.kube.patches import MergePatch

LIMIT_S = 60.0


class Shelf:
    """Images that are folders of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[tuple[str, str, Sequence[bytes]]] = []

    async def get(self, name: str, policy: str, credentials: Sequence[bytes] = ()) -> Image:
        self.asked.append((name, policy, credentials))
        if name == "built-in":
            return Image(id=name)
        if name == "none":
            raise NotNow("ErrImagePull", "there is no such image")
        return Image(id=name, root=self.folder)


class World:
    def __init__(self, server: HomeServer, admin: Client, node: Client, home: Path) -> None:
        self.server = server
        self.admin = admin
        self._node = node
        self.home = home
        self.settings = NodeSettings(name=NODE, folder=home / "nodes" / NODE)
        self.settings.root.mkdir(parents=True)
        self.provisioned = home / "volumes"
        self.provisioned.mkdir()
        self.image = home / "image"
        self.image.mkdir()
        self.shelf = Shelf(self.image)
        self.loops = LoopDevices(self.provisioned, home / "nodes")
        self.news: list[str] = []

    @asynccontextmanager
    async def volumes(self) -> AsyncIterator[Volumes]:
        """As one process has them."""
        made = Volumes(
            self.settings,
            self._node,
            self.shelf,
            self.loops,
            SystemClock(),
            allocatable=lambda: {"cpu": "4", "memory": "8Gi"},
            on_news=self.news.append,
            look_every_s=0.1,
        )
        async with made.running():
            yield made

    async def pod(self, name: str, *volumes: dict[str, Any], **more: Any) -> Pod:
        """On this node, mounting each volume at /<its name>."""
        mounts = [
            {"name": each["name"], "mountPath": f"/{each['name']}", **each.pop("mount", {})}
            for each in volumes
        ]
        container = {"name": "main", "image": "tool", "volumeMounts": mounts}
        container |= more.pop("container", {})
        metadata = {"name": name, **more.pop("metadata", {})}
        spec = a_pod_spec(nodeName=NODE, volumes=list(volumes), containers=[container], **more)
        spec.setdefault("automountServiceAccountToken", False)
        return await self.admin.create(PODS, {"metadata": metadata, "spec": spec}, "default")

    async def config_map(self, name: str, **data: str) -> None:
        body = {"metadata": {"name": name}, "data": data}
        await self.admin.create(CONFIG_MAPS.raw, body, "default")

    async def secret(self, name: str, **data: str) -> None:
        body = {"metadata": {"name": name}, "stringData": data}
        await self.admin.create(SECRETS.raw, body, "default")

    async def change(self, resource: Resource[Any], name: str, change: dict[str, Any]) -> None:
        await self.admin.patch(resource, name, MergePatch(change), "default")

    def folder(self, pod: Pod) -> Path:
        return self.settings.pod_folder(pod.metadata.uid)


def mounted(volumes: Volumes, pod: Pod, **environment: str) -> dict[str, Mount]:
    """By what they are called in the container."""
    assert pod.spec is not None
    found = volumes.mounts(pod, pod.spec.containers[0], environment)
    return {each.target: each for each in found}


def source(volumes: Volumes, pod: Pod, target: str) -> Path:
    return Path(mounted(volumes, pod)[target].source)


def seen(volumes: Volumes, pod: Pod, path: str) -> str:
    """The text of a file, as a container would read it at this path."""
    found = mounted(volumes, pod)
    above = max((each for each in found if path.startswith(each)), key=len)
    return Path(found[above].source + path.removeprefix(above)).read_text()


async def refusal(volumes: Volumes, pod: Pod) -> str:
    with pytest.raises(NotNow) as raised:
        await volumes.prepare(pod)
    assert raised.value.reason == "FailedMount"
    return raised.value.message


async def until(is_so: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(LIMIT_S):
            while not is_so():  # noqa: ASYNC110  # files and devices tell nobody
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within {LIMIT_S:g} s: {what}") from None


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    if os.getuid() != 0:
        pytest.skip("only root can mount")
    home = tmp_path / "home"
    home.mkdir()
    async with (
        home_server(tmp_path) as server,
        server.client() as admin,
        server.client("node") as node,
    ):
        world = World(server, admin, node, home)
        try:
            yield world
        finally:
            _clean_up(world)


def _clean_up(world: World) -> None:
    mounts.unmount_below(world.home)
    for file in world.provisioned.iterdir():
        if device := world.loops.find(file):
            subprocess.run(["losetup", "--detach", device], check=True, timeout=30)


@pytest.fixture
async def volumes(world: World) -> AsyncIterator[Volumes]:
    async with world.volumes() as made:
        yield made
