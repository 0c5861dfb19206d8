"""The example controller through everything that happens to a control plane.

It runs as a program of its own, is never restarted, and is told nothing. The API server is killed
in the middle of its work and its store is restarted under it; objects change right before, right after and
in between. In the end every copy is as its original is, nothing is missing, and nothing is left over.
"""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.contract.conftest import Mortal, Server, config_of

from clusterup import waiting
from kubevirt.api.core.namespace import ConfigMap, Namespace
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.scheme import CONFIG_MAPS, NAMESPACES
from kubevirt.base.errors import Retry
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.patches import MergePatch

EXAMPLE = Path(__file__).parents[2] / "examples" / "controller" / "clone.py"
SOURCE, TARGET = "source", "target"
LABELS = {"clone": "yes"}
OBJECTS = 30


@asynccontextmanager
async def the_example(server: Server, log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    with log.open("wb") as stderr:
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            EXAMPLE,
            SOURCE,
            TARGET,
            env={"KUBECONFIG": str(server.kubeconfig)},
            stderr=stderr,
        )
        try:
            yield program
        finally:
            if program.returncode is None:
                program.kill()
            await program.wait()


class Owner:
    """Somebody who changes ConfigMaps, however often the server fails, and knows what they hold."""

    def __init__(self, client: Client, fate: random.Random) -> None:
        self.contents: dict[str, str] = {}
        self._client = client
        self._fate = fate
        self._changes = 0

    async def has_changed(self, more: int) -> None:
        """So many times from now on."""
        goal = self._changes + more

        async def is_reached() -> bool:
            return self._changes >= goal

        await waiting.until(is_reached, limit_s=120, what="changes", every_s=0.001)

    async def make_changes(self, count: int) -> None:
        for _ in range(count):
            name = f"map-{self._fate.randrange(OBJECTS):02}"
            if name not in self.contents:
                await self._insist(self._create, name)
            elif self._fate.random() < 0.2:
                await self._insist(self._delete, name)
            else:
                await self._insist(self._update, name)

    async def _insist(self, change: Callable[[str], Awaitable[None]], name: str) -> None:
        async with asyncio.timeout(120):
            while True:
                try:
                    await change(name)
                except Retry:
                    await asyncio.sleep(0.05)
                else:
                    return

    async def _create(self, name: str) -> None:
        content = self._new_content()
        thing = ConfigMap(metadata=ObjectMeta(name=name, labels=LABELS), data={"content": content})
        try:
            await self._client.create(CONFIG_MAPS, thing, SOURCE)
        except AlreadyExists:
            await self._update(name)  # an earlier try arrived
        else:
            self.contents[name] = content

    async def _update(self, name: str) -> None:
        content = self._new_content()
        await self._client.patch(
            CONFIG_MAPS, name, MergePatch({"data": {"content": content}}), SOURCE
        )
        self.contents[name] = content

    async def _delete(self, name: str) -> None:
        with suppress(NotFound):  # an earlier try arrived
            await self._client.delete(CONFIG_MAPS, name, SOURCE)
        del self.contents[name]

    def _new_content(self) -> str:
        self._changes += 1
        return f"change {self._changes}"


async def contents(client: Client, namespace: str) -> dict[str, str]:
    found = await client.list(CONFIG_MAPS, namespace, label_selector="clone=yes")
    return {thing.metadata.name: thing.data["content"] for thing in found.items}


async def converge(client: Client, owner: Owner) -> None:
    async def are_alike() -> bool:
        try:
            return await contents(client, TARGET) == owner.contents
        except Retry:
            return False

    await waiting.until(are_alike, limit_s=120, what="the copies are as the originals")
    assert await contents(client, SOURCE) == owner.contents


@pytest.mark.timeout(600)
async def test_a_controller_survives_the_death_of_the_api_server_and_a_restart_of_its_store(
    mortal: Mortal, tmp_path: Path
) -> None:
    log = tmp_path / "example.log"
    async with Client(config_of(mortal.kubeconfig)) as client:
        for name in (SOURCE, TARGET):
            await client.create(NAMESPACES, Namespace(metadata=ObjectMeta(name=name)))
        owner = Owner(client, random.Random(11))
        await owner.make_changes(40)
        async with the_example(mortal, log) as example:
            await converge(client, owner)

            # kill -9 in the middle of a stream of changes, which go on as soon as they can.
            async with asyncio.TaskGroup() as tasks:
                changing = tasks.create_task(owner.make_changes(200))
                await owner.has_changed(20)
                assert not changing.done(), "too quick to be interrupted"
                await mortal.kill_apiserver()
                await mortal.start_apiserver()
            await converge(client, owner)

            # Once more, with changes before it is noticed that the server is back.
            await owner.make_changes(20)
            await mortal.kill_apiserver()
            await mortal.start_apiserver()
            await owner.make_changes(20)
            await converge(client, owner)

            # The store goes and comes, while the API server stays where they are two.
            async with asyncio.TaskGroup() as tasks:
                changing = tasks.create_task(owner.make_changes(200))
                await owner.has_changed(20)
                assert not changing.done(), "too quick to be interrupted"
                await mortal.restart_store()
            await converge(client, owner)

            # Both at once.
            await owner.make_changes(20)
            await mortal.stop_all()
            await mortal.start_all()
            await owner.make_changes(20)
            await converge(client, owner)

            assert example.returncode is None, f"the example ended: {log.read_text()}"


def test_the_example_is_a_page() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 40
