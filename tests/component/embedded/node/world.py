"""A node with a real API server, a real keeper and real sandboxes, and the simplest neighbours that do.

Pods are in the machine's own network and have the image that is the machine's /usr, no volumes and no
devices; what those do is tested where they are.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from kubevirt.api.core.container import Container, ResourceRequirements, SeccompProfile
from kubevirt.api.core.pod import ContainerStateTerminated, ContainerStatus, Pod
from kubevirt.api.scheme import EVENTS, PODS
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.http.access import AUTHENTICATED
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.neighbours import Allocated, Image, NotNow, PodNetwork
from kubevirt.embedded.node.node import Node
from kubevirt.embedded.node.parts import Neighbours
from kubevirt.embedded.node.records import PodRecords
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

NODE = "node01"
LIMIT_S = 60.0
Object = dict[str, Any]


class OneImage:
    """The built-in one, under any name but `missing`."""

    async def get(self, name: str, policy: str, credentials: Sequence[bytes] = ()) -> Image:
        if name == "missing":
            raise NotNow("ErrImagePull", "there is no such image anywhere")
        return Image(id="sha256:built-in")


class NoVolumes:
    def __init__(self) -> None:
        self.full: dict[str, str] = {}

    async def prepare(self, pod: Pod) -> None:
        pass

    def mounts(
        self, pod: Pod, container: Container, environment: Mapping[str, str] = {}
    ) -> Sequence[Mount]:
        return ()

    def overfull(self, uid: str) -> str:
        return self.full.get(uid, "")

    async def tear_down(self, uid: str) -> None:
        pass


class MachinesNetwork:
    namespace = ""
    trouble = ""

    async def set_up(self, pod: Pod) -> PodNetwork:
        return PodNetwork(namespace="", addresses=("127.0.0.1",), resolver="")

    async def tear_down(self, uid: str) -> None:
        pass


class NoDevices:
    capacity: Mapping[str, tuple[int, int]] = {}

    async def allocate(self, pod: Pod, container: Container) -> Allocated:
        if any(each.name == "DEVICE" for each in container.env):
            raise NotNow("UnexpectedAdmissionError", "Allocate failed due to no device")
        return Allocated()

    def free(self, uid: str) -> None:
        pass


class NoGroups:
    def for_container(
        self, uid: str, name: str, resources: ResourceRequirements | None
    ) -> Sequence[str]:
        return ()

    def is_out_of_memory(self, uid: str, name: str) -> bool:
        return False

    def remove(self, uid: str) -> None:
        pass


class NoFilters:
    def get(self, profile: SeccompProfile | None, capabilities: Collection[str]) -> int | None:
        return None


def neighbours(keeper: Keeper) -> Neighbours:
    return Neighbours(
        images=OneImage(),
        volumes=NoVolumes(),
        network=MachinesNetwork(),
        devices=NoDevices(),
        groups=NoGroups(),
        filters=NoFilters(),
        keeper=keeper,
    )


def client_of(url: str, token: str) -> Client:
    config = Config(
        server=url,
        credentials=HeldCredentials(token=Inline(token.encode(), "the test")),
    )
    return Client(config)


@asynccontextmanager
async def api_server(folder: Path) -> AsyncIterator[str]:
    """With an administrator and the node, both by their names as tokens."""
    node = Identity(user=f"system:node:{NODE}", groups=("system:nodes", AUTHENTICATED))
    access = AccessSettings(
        signing_key=signing_key(), known_tokens={"admin": ADMINISTRATOR, "node": node}
    )
    settings = ServerSettings(data=folder / "store.db", access=access)
    async with serving(settings) as server:
        yield server.url


def settings(folder: Path, **more: Any) -> NodeSettings:
    return NodeSettings(name=NODE, folder=folder / NODE, **more)


@asynccontextmanager
async def node(folder: Path, url: str, keeper_program: Path, **more: Any) -> AsyncIterator[Node]:
    """Leaving it is as good as a crash for its pods."""
    async with AsyncExitStack() as stack:
        keeper = stack.enter_context(Keeper.open(keeper_program))
        client = await stack.enter_async_context(client_of(url, "node"))
        found = Node(settings(folder, **more), client, neighbours(keeper), SystemClock())
        yield await stack.enter_async_context(found.running())


class World:
    """The cluster as a user sees it, and the machine as it is."""

    def __init__(self, folder: Path, url: str, client: Client, keeper_program: Path) -> None:
        self.folder = folder
        self.url = url
        self.client = client
        self.keeper_program = keeper_program

    @asynccontextmanager
    async def node(self, **more: Any) -> AsyncIterator[Node]:
        async with node(self.folder, self.url, self.keeper_program, **more) as found:
            yield found

    async def create(self, pod: Object) -> Pod:
        return await self.client.create(PODS, pod, "default")

    async def pod(self, name: str) -> Pod:
        return await self.client.get(PODS, name, "default")

    async def until(self, name: str, holds: Callable[[Pod], object]) -> Pod:
        """Watches it: every state is seen, also those that pass."""
        last = None
        try:
            async with asyncio.timeout(LIMIT_S):
                async for event in self.client.watch(
                    PODS,
                    "default",
                    resource_version=None,
                    field_selector=f"metadata.name={name}",
                ):
                    last = event.object
                    if isinstance(last, Pod) and holds(last):
                        return last
        except TimeoutError:
            raise AssertionError(f"it never came to that; last: {last}") from None
        raise AssertionError("the watch ended")

    async def until_gone(self, name: str) -> None:
        async with asyncio.timeout(LIMIT_S):
            while True:
                try:
                    await self.pod(name)
                except NotFound:
                    return
                await asyncio.sleep(0.02)

    async def delete(self, name: str, **options: Any) -> None:
        await self.client.delete(PODS, name, "default", **options)

    async def events(self, name: str) -> list[tuple[str, str]]:
        found = await self.client.list(EVENTS, "default")
        return [
            (each.reason or "", each.message or "")
            for each in found.items
            if each.involved_object.name == name
        ]

    def records(self, pod: Pod) -> PodRecords:
        return PodRecords(self.folder / NODE / "pods" / pod.metadata.uid)

    def log(self, pod: Pod, container: str = "main", number: int = 0) -> list[str]:
        path = self.records(pod).attempt(container, number).folder / "log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split(" ", 3)[3] for line in lines]

    def kill_all(self) -> None:
        """At the end of a test, whatever it left running."""
        for folder in (self.folder / NODE / "pods").glob("*"):
            for attempt in PodRecords(folder).all_attempts():
                attempt.signal(signal.SIGKILL)


def a_pod(name: str, script: str = "exec sleep 1000", **spec: Any) -> Object:
    main = {"name": "main", "image": "tool", "command": ["sh", "-c", script]}
    main |= spec.pop("main", {})
    return {
        "metadata": {"name": name},
        "spec": {
            "nodeName": NODE,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "containers": [main, *spec.pop("more", ())],
            **spec,
        },
    }


def container(name: str, script: str, **more: Any) -> Object:
    return {"name": name, "image": "tool", "command": ["sh", "-c", script], **more}


def is_ready(pod: Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def has_phase(*phases: str) -> Callable[[Pod], bool]:
    return lambda pod: pod.status.phase in phases


def status_of(pod: Pod, name: str = "main") -> ContainerStatus:
    found = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return next(each for each in found if each.name == name)


def ended(pod: Pod, name: str = "main") -> ContainerStateTerminated:
    state = status_of(pod, name).state
    assert state is not None
    assert state.terminated is not None, state
    return state.terminated


def waits_for(reason: str, name: str = "main") -> Callable[[Pod], bool]:
    def holds(pod: Pod) -> bool:
        if not (*pod.status.init_container_statuses, *pod.status.container_statuses):
            return False
        state = status_of(pod, name).state
        return bool(state and state.waiting and state.waiting.reason == reason)

    return holds


def has_restarted(times: int, name: str = "main") -> Callable[[Pod], bool]:
    def holds(pod: Pod) -> bool:
        if not pod.status.container_statuses:
            return False
        status = status_of(pod, name)
        return status.restart_count == times and bool(status.state and status.state.running)

    return holds


async def until(holds: Callable[[], bool]) -> None:
    """For what is in files."""
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110  # nobody tells
            await asyncio.sleep(0.02)


def left_over(folder: Path) -> list[str]:
    """Processes of sandboxes whose folder is gone: nobody would ever find them again."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            place = str((process / "cwd").readlink())
            if place.startswith(str(folder)) and place.endswith(" (deleted)"):
                found.append(f"{process.name} {place}")
    return found
