"""A device plugin in a program of its own comes to a node, hands out devices and goes."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.devices import attendance
from kubevirt.embedded.node.devices.devices import DevicePlugins, DeviceSettings
from kubevirt.embedded.node.neighbours import NotNow
from kubevirt.embedded.runtime.container import Mount

LIMIT_S = 60.0
RESOURCE = "example.com/widget"
SOCKETS = "var/lib/kubelet/device-plugins"


class Plugin:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def do(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        await self._process.stdin.drain()

    async def tells(self) -> Any:
        assert self._process.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            return json.loads(await self._process.stdout.readline())

    async def registers(self, version: str = "") -> Any:
        await self.do(f"register {version}")
        return await self.tells()

    async def attends(self, *devices: str) -> None:
        """Comes, and has devices."""
        await self.do("register")
        told = [await self.tells(), await self.tells()]
        assert {"registered": True} in told
        assert {"watched": True} in told
        await self.do(f"devices {' '.join(devices)}")

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


Plugins = Callable[..., Awaitable[Plugin]]


@pytest.fixture
def settings(tmp_path: Path) -> DeviceSettings:
    return DeviceSettings(
        root=tmp_path / "root", private=tmp_path / "own", cdi_folders=(tmp_path / "cdi",)
    )


@pytest.fixture
async def plugins(settings: DeviceSettings, plugin_program: list[str]) -> AsyncIterator[Plugins]:
    """Starts them, and ends them with the test."""
    async with AsyncExitStack() as stack:

        async def started(
            *options: str, resource: str = RESOURCE, socket: str = "w.sock"
        ) -> Plugin:
            process = await asyncio.create_subprocess_exec(
                *(*plugin_program, resource, socket, *options),
                cwd=settings.root / SOCKETS,  # whose own name may be too long for a socket
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            plugin = Plugin(process)
            stack.push_async_callback(plugin.end)
            return plugin

        yield started


class Node:
    """Its devices, and a bell that rings when they change."""

    def __init__(self, settings: DeviceSettings) -> None:
        self.bell = asyncio.Event()
        self.devices = DevicePlugins(settings, SystemClock(), self.bell.set)

    async def has(self, **counts: tuple[int, int]) -> None:
        """Waits for it: of `widget`, all and healthy."""
        wanted = {f"example.com/{name}": each for name, each in counts.items()}
        async with asyncio.timeout(LIMIT_S):
            while dict(self.devices.capacity) != wanted:
                self.bell.clear()
                await self.bell.wait()


@asynccontextmanager
async def node_of(settings: DeviceSettings) -> AsyncIterator[Node]:
    made = Node(settings)
    async with made.devices.running():
        yield made


@pytest.fixture
async def node(settings: DeviceSettings) -> AsyncIterator[Node]:
    async with node_of(settings) as made:
        yield made


def a_pod(uid: str = "one", init: str = "", **containers: int) -> Pod:
    """Containers by name, each with so many widgets; `init` is the name of the one that comes first."""
    made = [
        {"name": name, "image": "x", "resources": {"limits": {RESOURCE: str(count), "cpu": "1"}}}
        for name, count in containers.items()
    ]
    return msgspec.convert(
        {
            "metadata": {"name": uid, "namespace": "default", "uid": uid},
            "spec": {
                "initContainers": [each for each in made if each["name"] == init],
                "containers": [each for each in made if each["name"] != init],
            },
        },
        Pod,
    )


def container_of(pod: Pod, name: str) -> Container:
    assert pod.spec is not None
    return next(
        each for each in (*pod.spec.init_containers, *pod.spec.containers) if each.name == name
    )


async def given(node: Node, pod: Pod, name: str = "a") -> str:
    found = await node.devices.allocate(pod, container_of(pod, name))
    return found.environment["DEVICES"]


async def test_a_plugin_comes_and_its_devices_count(node: Node, plugins: Plugins) -> None:
    assert node.devices.capacity == {}
    plugin = await plugins()

    await plugin.attends("a", "b", "-c")
    await node.has(widget=(3, 2))
    await plugin.do("devices a -b")
    await node.has(widget=(2, 1))


async def test_grpc_is_not_loaded_before_somebody_comes(settings: DeviceSettings) -> None:
    script = """
import asyncio, sys
from pathlib import Path
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.devices.devices import DevicePlugins, DeviceSettings

async def main():
    root = Path(sys.argv[1])
    settings = DeviceSettings(root=root, private=root / "own")
    async with DevicePlugins(settings, SystemClock()).running():
        print(sorted({name.partition(".")[0] for name in sys.modules} & {"grpc", "google"}))

asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, str(settings.root)), stdout=subprocess.PIPE
    )
    said, _ = await process.communicate()

    assert (process.returncode, said) == (0, b"[]\n")


async def test_a_container_gets_devices_and_keeps_them(
    node: Node, plugins: Plugins, settings: DeviceSettings
) -> None:
    plugin = await plugins()
    await plugin.attends("a", "b", "c")
    await node.has(widget=(3, 3))
    pod = a_pod(a=2)

    found = await node.devices.allocate(pod, container_of(pod, "a"))

    assert await plugin.tells() == {"allocated": ["a", "b"]}
    assert found.environment == {"DEVICES": "a,b"}
    assert found.annotations == {"example.com/devices": "a,b"}
    assert found.mounts == [
        Mount(source="/dev/null", target="/dev/example/a", is_device=True),
        Mount(source="/dev/null", target="/dev/example/b", is_device=True),
        Mount(source=str(settings.root / SOCKETS), target="/shared", is_read_only=True),
    ]
    assert await node.devices.allocate(pod, container_of(pod, "a")) == found
    assert await given(node, a_pod("two", a=1)) == "c"
    assert await plugin.tells() == {"allocated": ["c"]}  # and not another time for the first


async def test_a_plugin_may_name_a_device_that_a_file_of_the_machine_describes(
    node: Node, plugins: Plugins, settings: DeviceSettings
) -> None:
    [folder] = settings.cdi_folders
    folder.mkdir()
    device = {"path": "/dev/example/cdi", "hostPath": "/dev/null"}
    edits = {"env": ["FROM_FILE=yes"], "deviceNodes": [device]}
    (folder / "example.json").write_text(
        json.dumps({"kind": "example.com/c", "devices": [{"name": "a", "containerEdits": edits}]})
    )
    plugin = await plugins()
    await plugin.attends("example.com/c=a")
    await node.has(widget=(1, 1))
    pod = a_pod(a=1)

    found = await node.devices.allocate(pod, container_of(pod, "a"))

    assert found.environment == {"DEVICES": "example.com/c=a", "FROM_FILE": "yes"}
    assert Mount(source="/dev/null", target="/dev/example/cdi", is_device=True) in found.mounts


async def test_a_container_that_wants_no_device_gets_none(node: Node, plugins: Plugins) -> None:
    plugin = await plugins()
    await plugin.attends("a")
    await node.has(widget=(1, 1))
    pod = a_pod(a=0)

    found = await node.devices.allocate(pod, container_of(pod, "a"))

    assert (found.mounts, found.environment) == ([], {})


async def test_devices_that_are_gone_or_taken_are_missed_in_words(
    node: Node, plugins: Plugins
) -> None:
    plugin = await plugins()
    await plugin.attends("a", "-b")
    await node.has(widget=(2, 1))

    with pytest.raises(NotNow, match=r"Requested: 2, Available: 1, which is unexpected") as error:
        await given(node, a_pod(a=2))
    assert error.value.reason == "UnexpectedAdmissionError"
    assert await given(node, a_pod("two", a=1)) == "a"
    with pytest.raises(NotNow, match=r"Requested: 1, Available: 0"):
        await given(node, a_pod("three", a=1))

    node.devices.free("two")
    assert await given(node, a_pod("three", a=1)) == "a"


async def test_a_plugin_that_refuses_is_quoted(node: Node, plugins: Plugins) -> None:
    plugin = await plugins()
    await plugin.attends("broken")
    await node.has(widget=(1, 1))

    with pytest.raises(NotNow, match="that one is broken"):
        await given(node, a_pod(a=1))
    await plugin.do("devices good")
    await node.has(widget=(1, 1))
    async with asyncio.timeout(LIMIT_S):
        while "good" not in node.devices._attending[RESOURCE].healthy:
            node.bell.clear()
            await node.bell.wait()
    assert await given(node, a_pod(a=1)) == "good"


async def test_pods_that_come_at_once_share_nothing(node: Node, plugins: Plugins) -> None:
    plugin = await plugins()
    await plugin.attends(*"abcdefgh")
    await node.has(widget=(8, 8))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(given(node, a_pod(str(number), a=2))) for number in range(4)]

    assert sorted(",".join(task.result() for task in tasks).split(",")) == list("abcdefgh")


async def test_what_an_init_container_had_is_used_again(node: Node, plugins: Plugins) -> None:
    plugin = await plugins()
    await plugin.attends("a", "b", "c")
    await node.has(widget=(3, 3))
    pod = a_pod(init="first", first=2, a=1, b=2)

    assert await given(node, pod, "first") == "a,b"
    assert await given(node, pod, "a") == "a"
    assert await given(node, pod, "b") == "b,c"


async def test_a_plugin_is_asked_what_it_prefers(node: Node, plugins: Plugins) -> None:
    plugin = await plugins("--preferences")
    await plugin.attends("a", "b", "c")
    await node.has(widget=(3, 3))

    assert await given(node, a_pod(a=2)) == "b,c"
    assert await plugin.tells() == {"available": ["a", "b", "c"], "included": [], "count": 2}


async def test_a_plugin_is_told_of_each_start_if_it_wants(node: Node, plugins: Plugins) -> None:
    plugin = await plugins("--pre-start")
    await plugin.attends("a")
    await node.has(widget=(1, 1))
    pod = a_pod(a=1)

    for _ in range(2):
        await given(node, pod)

    told = [await plugin.tells() for _ in range(3)]
    assert told == [{"allocated": ["a"]}, {"started": ["a"]}, {"started": ["a"]}]


async def test_a_plugin_that_goes_takes_its_devices_along_after_a_while(
    node: Node, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attendance, "GONE_S", 0.5)
    plugin = await plugins()
    await plugin.attends("a", "b")
    await node.has(widget=(2, 2))
    pod = a_pod(a=1)
    assert await given(node, pod) == "a"

    await plugin.end()

    await node.has(widget=(2, 0))
    assert await given(node, pod) == "a"  # whoever has one keeps it
    with pytest.raises(NotNow, match="no device plugin serves"):
        await given(node, a_pod("two", a=1))
    await node.has(widget=(0, 0))


async def test_a_plugin_that_comes_back_takes_the_place(node: Node, plugins: Plugins) -> None:
    old = await plugins()
    await old.attends("a")
    await node.has(widget=(1, 1))

    new = await plugins(socket="new.sock")
    await new.attends("b", "c")

    await node.has(widget=(2, 2))
    await given(node, a_pod(a=1))
    assert await new.tells() == {"allocated": ["b"]}


async def test_a_restarted_node_remembers_who_has_what(
    settings: DeviceSettings, plugins: Plugins
) -> None:
    pod = a_pod(a=1)
    async with node_of(settings) as node:
        plugin = await plugins()
        await plugin.attends("a", "b")
        await node.has(widget=(2, 2))
        before = await node.devices.allocate(pod, container_of(pod, "a"))
        await plugin.tells()
    await plugin.end()

    async with node_of(settings) as node:
        assert node.devices.capacity == {RESOURCE: (0, 0)}
        assert await node.devices.allocate(pod, container_of(pod, "a")) == before
        assert not (settings.root / SOCKETS / "w.sock").exists()  # by which plugins notice
        plugin = await plugins()
        await plugin.attends("a", "b")
        await node.has(widget=(2, 2))
        assert await given(node, a_pod("two", a=1)) == "b"


async def test_several_plugins_serve_one_container(node: Node, plugins: Plugins) -> None:
    widgets = await plugins()
    gadgets = await plugins(resource="example.com/gadget", socket="g.sock")
    await widgets.attends("w")
    await gadgets.attends("g")
    await node.has(widget=(1, 1), gadget=(1, 1))
    container = msgspec.convert(
        {
            "name": "a",
            "image": "x",
            "resources": {"limits": {RESOURCE: "1", "example.com/gadget": 1}},
        },
        Container,
    )

    found = await node.devices.allocate(a_pod(a=1), container)

    targets = [each.target for each in found.mounts]
    assert targets == ["/dev/example/g", "/dev/example/w", "/shared"]


@pytest.mark.parametrize(
    ("resource", "socket", "version", "words"),
    [
        (RESOURCE, "w.sock", "v1alpha", 'requested API version "v1alpha" is not supported'),
        ("cpu", "w.sock", "", 'the ResourceName "cpu" is invalid'),
        ("kubernetes.io/widget", "w.sock", "", "is invalid"),
        ("example.com/wid get", "w.sock", "", "is invalid"),
        (RESOURCE, "../w.sock", "", "is no name of a socket"),
        (RESOURCE, "/tmp/w.sock", "", "is no name of a socket"),
    ],
)
async def test_a_plugin_that_makes_no_sense_is_told(
    node: Node, plugins: Plugins, resource: str, socket: str, version: str, words: str
) -> None:
    plugin = await plugins(resource=resource, socket=socket)

    told = await plugin.registers(version)

    assert words in told["refused"]
    assert node.devices.capacity == {}


async def test_a_socket_that_is_none_is_not_asked(
    node: Node, plugins: Plugins, settings: DeviceSettings
) -> None:
    """A link to the socket of another plugin."""
    plugin = await plugins(socket="w.sock")
    await plugin.attends("a")
    await node.has(widget=(1, 1))
    other = await plugins(resource="example.com/gadget", socket="g.sock")
    async with asyncio.timeout(LIMIT_S):
        while not (settings.root / SOCKETS / "g.sock").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    (settings.root / SOCKETS / "g.sock").unlink()
    (settings.root / SOCKETS / "g.sock").symlink_to("w.sock")
    await other.registers()

    await node.has(widget=(1, 1), gadget=(0, 0))
