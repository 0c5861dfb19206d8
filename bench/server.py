"""The one server of a run: a real API server with the VMIs in it, and a history to catch up with.

What makes a watch hard to measure is that writing is slower than reading: a reader that follows a
writer measures the writer. So all changes are made before anybody reads. A contender then lists the
objects as they were at `past` and watches from there; the events up to `present` wait for it in the
API server's memory, and it alone decides how fast they go by.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import population
from clusterup import errors, progress, waiting
from clusterup.light import LightCluster
from kubevirt.api import crds
from kubevirt.api.scheme import NAMESPACES, VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.errors import Unreachable
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NoSuchResource, Overloaded
from kubevirt.kube.patches import MergePatch

CONTROLLERS = "serviceaccount-controller"
"""Those that would follow the VMIs too, such as garbage collection, compete with the contenders."""
API_FLAGS = {"etcd-compaction-interval": "0"}
"""A list of the past is answered from etcd's history, which is not to be cut off meanwhile."""
WRITERS = 16
HISTORY_S = 60.0
"""The API server keeps at least the events of its last 75 s; older ones are not counted upon."""
CHECKPOINT_EVERY = 500
LIMIT_S = 30.0
WAITS_S = (1.0, 5.0, 10.0)
"""Between attempts to write what the server did not take in its time."""


@dataclass(frozen=True, kw_only=True)
class Server:
    kubeconfig: Path
    folder: Path
    """For logs; goes away with the server."""
    objects: int
    object_bytes: float
    """Mean size of one object in a list, as it is sent."""


@dataclass(frozen=True, kw_only=True)
class History:
    """What happened between two moments of the collection."""

    past: str
    """A resource version after which `events` changes happened."""
    present: str
    """The resource version of the last of them."""
    events: int


@contextlib.asynccontextmanager
async def filled_server(objects: int, say: progress.Progress) -> AsyncIterator[Server]:
    async with LightCluster(
        controllers=CONTROLLERS, api_flags=API_FLAGS, collects_garbage=True
    ) as cluster:
        async with _client(cluster.kubeconfig) as client:
            await _define_vmis(client)
            async with say.step(f"creating {objects} VMIs") as step:
                await _create(client, objects, step)
            body = await client.raw("GET", VIRTUAL_MACHINE_INSTANCES.path())
        yield Server(
            kubeconfig=cluster.kubeconfig,
            folder=cluster.folder,
            objects=objects,
            object_bytes=len(body) / objects,
        )


async def make_history(server: Server, changes: int, say: progress.Progress) -> History:
    """Change VMIs in turn, as often as `changes` says."""
    title = f"changing VMIs {changes} times"
    async with _client(server.kubeconfig) as client, say.step(title) as step:
        return await _change(client, server.objects, changes, step)


def _client(path: Path) -> Client:
    return Client(kubeconfig.load([path], os.environ))


async def _define_vmis(client: Client) -> None:
    name = VIRTUAL_MACHINE_INSTANCES.group_resource
    definition = next(each for each in crds.load() if each["metadata"]["name"] == name)
    await client.raw("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)

    async def is_served() -> bool:
        try:
            await _version(client)
        except NoSuchResource:
            return False
        return True

    await waiting.until(is_served, limit_s=LIMIT_S, what="the API server serves VMIs")
    for namespace in population.namespaces():
        await client.create(NAMESPACES.raw, {"metadata": {"name": namespace}})


async def _create(client: Client, objects: int, step: progress.Step) -> None:
    async def create(number: int) -> None:
        vmi = population.vmi(number)
        await client.create(
            VIRTUAL_MACHINE_INSTANCES.metadata_only, vmi, field_manager="virt-controller"
        )

    await _all_at_once(range(objects), create, step, objects)


async def _change(client: Client, objects: int, changes: int, step: progress.Step) -> History:
    """The past of the history begins as early as the server is sure to remember it."""
    checkpoints: list[tuple[float, int, str]] = []
    present = 0

    async def change(turn: int) -> None:
        nonlocal present
        number = turn % objects
        changed = await client.patch(
            VIRTUAL_MACHINE_INSTANCES.metadata_only,
            population.name_of(number),
            MergePatch(population.change(1 + turn // objects)),
            population.namespace_of(number),
            field_manager="virt-handler",
        )
        present = max(present, int(changed.metadata.resource_version or 0))

    for first in range(0, changes, CHECKPOINT_EVERY):
        # Between two batches nothing is under way: every later version is a later change.
        checkpoints.append((time.monotonic(), first, await _version(client)))
        turns = range(first, min(first + CHECKPOINT_EVERY, changes))
        await _all_at_once(turns, change, step, changes)
    remembered = time.monotonic() - HISTORY_S
    _, before, past = next(each for each in checkpoints if each[0] > remembered)
    return History(past=past, present=str(present), events=changes - before)


async def _insist(act: Callable[[], Awaitable[None]]) -> None:
    """Do it even though the machine is busy. To do it twice leaves no second trace."""
    for wait_s in WAITS_S:
        try:
            return await act()
        except AlreadyExists:
            return None
        except (Overloaded, Unreachable):
            await asyncio.sleep(wait_s)
    return await act()


async def _version(client: Client) -> str:
    """How far the collection is."""
    async with contextlib.aclosing(
        client.pages(VIRTUAL_MACHINE_INSTANCES.metadata_only, limit=1)
    ) as pages:
        return (await anext(pages)).resource_version


async def _all_at_once(
    numbers: Iterable[int],
    act: Callable[[int], Awaitable[None]],
    step: progress.Step,
    total: int,
) -> None:
    """Do all with a few workers, who share what is left."""
    left = iter(numbers)

    async def work() -> None:
        for number in left:
            await _insist(partial(act, number))
            step.detail = f"{number + 1} of {total}"

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(WRITERS):
                tasks.create_task(work())
    except ExceptionGroup as group:
        raise errors.Broken(f"the server cannot be filled: {group.exceptions[0]}") from group
