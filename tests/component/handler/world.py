"""A node for a virt-handler: a real API server, a kubelet's folders, launchers as in production.

    async with a_node() as node, node.handler(), node.launcher(vmi) as launcher:
        await node.phase("testvm", "Running")

The test is the scheduler, the kubelet and virt-controller: it makes the objects and folders that they make. The
launcher's sandbox is the stand-alone mode's, in a network namespace of the test, with the folders of a pod.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from tests.component.host.net_world import World as Network
from tests.component.host.net_world import a_world
from tests.component.launcher.world import World as LauncherProcess
from tests.component.launcher.world import seed

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import (
    CUSTOM_RESOURCE_DEFINITIONS,
    EVENTS,
    NAMESPACES,
    NODES,
    VIRTUAL_MACHINE_INSTANCES,
)
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.base import commands
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.components.handler import handler
from kubevirt.components.handler.settings import HandlerSettings
from kubevirt.components.launcher import launching
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.standalone import devices, sandbox
from kubevirt.components.launcher.standalone.sandbox import Sandbox
from kubevirt.host.libvirt.daemon import DaemonSettings
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.patches import MergePatch
from kubevirt.virt.layout import Layout

NODE = "node01"
NAMESPACE = "default"
USER = 107
LIMIT_S = 200.0
LAYOUT = Layout()
LIBVIRT = "/var/run/libvirt"
FOLDERS = {
    "private": LAYOUT.private,
    "public": LAYOUT.share,
    "sockets": f"{LAYOUT.share}/sockets",
    "container-disks": LAYOUT.container_disks,
    "libvirt-runtime": LIBVIRT,
    "ephemeral-disks": LAYOUT.ephemeral,
}
"""Of a launcher's pod, by name: where they are inside, outer ones first."""

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: test
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
clusters: [{{name: test, cluster: {{server: "{url}"}}}}]
users: [{{name: test, user: {{token: admin}}}}]
"""

Object = dict[str, Any]


class Launcher(LauncherProcess):
    """One launcher in its pod, from outside."""

    def __init__(
        self, folder: Path, process: commands.Process, pid: int, log: Path, network: Network
    ) -> None:
        super().__init__(folder, process, pid, log)
        self.network = network

    def volume(self, name: str) -> Path:
        return self.folder / "volumes/kubernetes.io~empty-dir" / name

    async def banner(self, port: int = 22, address: str = "10.244.1.5") -> bytes:
        """What the guest says first to somebody outside who connects to its pod's address."""

        def connect() -> bytes:
            try:
                with socket.create_connection((address, port), timeout=2) as connection:
                    return connection.recv(64)
            except OSError:
                return b""

        return await self.network.outside.run(connect)

    async def greets(self, limit_s: float = LIMIT_S) -> None:
        async with asyncio.timeout(limit_s):
            while not await self.banner():  # noqa: ASYNC110  # a guest has no events for us
                await asyncio.sleep(0.2)


class Node:
    def __init__(self, folder: Path, url: str, client: Client) -> None:
        self.folder = folder
        self.url = url
        self.client = client
        self.handler_client = client_of(url)
        self.configuration = KubeVirtConfiguration()

    @property
    def kubelet(self) -> Path:
        return self.folder / "kubelet"

    def settings(self, **changed: Any) -> HandlerSettings:
        return HandlerSettings(
            **{
                "node": NODE,
                "kubelet": self.kubelet,
                "device_plugins": self.folder / "plugins",
                "devices": self.folder / "dev",
                "records": self.folder / "records",
                "address": "127.0.0.1",
                "port": 0,
                **changed,
            }
        )

    @asynccontextmanager
    async def handler(self, **changed: Any) -> AsyncIterator[handler.Handler]:
        tls = changed.pop("tls", None)
        async with (
            client_of(self.url) as self.handler_client,
            handler.serving(
                self.settings(**changed),
                self.handler_client,
                lambda: self.configuration,
                SystemClock(),
                tls=tls,
            ) as found,
        ):
            yield found

    @asynccontextmanager
    async def handler_process(self) -> AsyncIterator[commands.Process]:
        """The program itself, in a process that can be killed."""
        await _define(self.client, "kubevirts.kubevirt.io")
        config = self.folder / "kubeconfig"
        config.write_text(KUBECONFIG.format(url=self.url))
        settings = self.settings()
        words = (
            *("--kubeconfig", str(config), "--hostname-override", NODE),
            *("--kubelet-root", str(settings.kubelet), "--state-dir", str(settings.records)),
            *("--device-plugin-dir", str(settings.device_plugins)),
            *("--listen", "127.0.0.1", "--port", "0"),
        )
        module = ("-m", "kubevirt.components.handler.main")
        with (self.folder / "handler.log").open("ab") as output:
            async with commands.spawn(
                sys.executable, *module, *words, output=output, grace_s=5
            ) as process:
                try:
                    yield process
                except BaseException:
                    sys.stderr.write((self.folder / "handler.log").read_text()[-20000:])
                    raise

    def writes(self) -> int:
        """Of instances, by the handler that runs last, as far as the server took them."""
        return sum(
            count
            for (code, method, _, resource, _), count in (
                self.handler_client.traffic.requests.items()
            )
            if resource == "virtualmachineinstances" and method != "GET" and code.startswith("2")
        )

    # Instances.

    async def create(self, vmi: Object) -> Object:
        return await self.client.create(VIRTUAL_MACHINE_INSTANCES.raw, vmi, NAMESPACE)

    async def hand_over(self, vmi: Object, pod: str) -> None:
        """What virt-controller writes once the pod is up."""
        name = vmi["metadata"]["name"]
        patch = {
            "metadata": {"labels": {"kubevirt.io/nodeName": NODE}},
            "status": {"phase": "Scheduled", "nodeName": NODE, "activePods": {pod: NODE}},
        }
        await self.client.patch(VIRTUAL_MACHINE_INSTANCES.raw, name, MergePatch(patch), NAMESPACE)

    async def vmi(self, name: str = "testvm") -> VirtualMachineInstance:
        return await self.client.get(VIRTUAL_MACHINE_INSTANCES, name, NAMESPACE)

    async def until(
        self,
        wanted: Callable[[VirtualMachineInstance], object],
        name: str = "testvm",
        limit_s: float = LIMIT_S,
    ) -> VirtualMachineInstance:
        last = None
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    last = await self.vmi(name)
                    if wanted(last):
                        return last
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"after {limit_s} s it is still {last}") from None

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[list[str]]:
        """Every write to an instance that the server took, by the phase that it left."""
        seen: list[str] = []
        listed = await self.client.list(VIRTUAL_MACHINE_INSTANCES, NAMESPACE)

        async def watch() -> None:
            async with aclosing(
                self.client.watch(
                    VIRTUAL_MACHINE_INSTANCES,
                    NAMESPACE,
                    resource_version=listed.resource_version,
                )
            ) as events:
                async for event in events:
                    if isinstance(found := event.object, VirtualMachineInstance):
                        seen.append(found.status.phase or "")  # noqa: PERF401  # it grows while others look

        async with background(watch()):
            yield seen

    async def phase(self, wanted: str, name: str = "testvm") -> VirtualMachineInstance:
        return await self.until(lambda vmi: vmi.status.phase == wanted, name)

    async def delete(self, name: str = "testvm") -> None:
        with suppress(NotFound):
            await self.client.delete(VIRTUAL_MACHINE_INSTANCES, name, NAMESPACE)

    async def finish(self, name: str = "testvm") -> None:
        """What virt-controller does when nothing of it runs any more."""
        await self.client.patch(
            VIRTUAL_MACHINE_INSTANCES.raw,
            name,
            MergePatch({"metadata": {"finalizers": None}}),
            NAMESPACE,
        )

    async def reasons(self) -> list[str]:
        """Of events, in their order."""
        found = await self.client.list(EVENTS, NAMESPACE)
        return [each.reason or "" for each in found.items]

    async def told(self, *wanted: str) -> None:
        """Waits for events with these reasons: they are written beside the work."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while not set(wanted) <= set(await self.reasons()):  # noqa: ASYNC110  # no watch needed
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"only {await self.reasons()} was told") from None

    # Launchers.

    @asynccontextmanager
    async def launcher(
        self, vmi: Object, *, images: Sequence[Path] = (), pod: str = "", **changed: Any
    ) -> AsyncIterator[Launcher]:
        """A pod of the instance, which a kubelet has started. Of the network nothing is left."""
        pod = pod or f"pod-{vmi['metadata']['uid']}"
        with ExitStack() as stack:
            network = stack.enter_context(a_world())
            folder = self.kubelet / "pods" / pod
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            launched = _launched(folder, network, vmi, images, changed)
            async with launched as found:
                yield found

    @asynccontextmanager
    async def running(
        self, vmi: Object, *, images: Sequence[Path] = (), **changed: Any
    ) -> AsyncIterator[Launcher]:
        """The same, handed over."""
        made = await self.create(vmi)
        pod = f"pod-{made['metadata']['uid']}"
        async with self.launcher(made, images=images, pod=pod, **changed) as found:
            await self.hand_over(made, pod)
            yield found


@asynccontextmanager
async def _launched(
    folder: Path,
    network: Network,
    vmi: Object,
    images: Sequence[Path],
    changed: Mapping[str, Any],
) -> AsyncIterator[Launcher]:
    places = {inside: _made(folder, name) for name, inside in FOLDERS.items()}
    for number, image in enumerate(images):
        shutil.copyfile(image, places[LAYOUT.container_disks] / f"disk_{number}.img")
    etc = folder / "etc"
    etc.mkdir()
    for name, text in sandbox.accounts("testvm").items():
        (etc / name).write_text(text)
    meta = vmi["metadata"]
    libvirt = DaemonSettings(home=LIBVIRT, capabilities_seed=str(seed()), emulated=True)
    chosen = Settings(
        **{
            "name": meta["name"],
            "namespace": meta["namespace"],
            "uid": meta["uid"],
            "libvirt": libvirt,
            **{name: each for name, each in changed.items() if name != "in_nodes_network"},
        }
    )
    launching.prepare(chosen, lambda path: _outside(places, path))
    for place in places.values():
        for each in (place, *place.rglob("*")):
            os.lchown(each, USER, USER)
    reading, writing = os.pipe()
    box = Sandbox(
        etc=etc,
        binds=places,
        devices={str(devices.TUN): devices.node(devices.TUN, folder)},
        hostname="testvm",
        status_fd=writing,
    )
    words = sandbox.arguments(box, *launching.command(chosen, 100))
    log = folder / "log"
    with os.fdopen(reading) as status, log.open("wb") as output:
        is_inside = not changed.get("in_nodes_network")
        enter = ("nsenter", f"--net=/proc/self/fd/{network.pod.fd}", "--") if is_inside else ()
        async with commands.spawn(
            *enter, *words, output=output, grace_s=0.1, pass_fds=(writing, network.pod.fd)
        ) as process:
            os.close(writing)
            pid = int(json.loads(await asyncio.to_thread(status.readline))["child-pid"])
            found = Launcher(folder, process, pid, log, network)
            try:
                yield found
            except BaseException:
                sys.stderr.write(found.log[-20000:])
                raise
            finally:
                _keep_what_libvirt_learned(places[LIBVIRT])
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _made(folder: Path, name: str) -> Path:
    place = folder / "volumes/kubernetes.io~empty-dir" / name
    place.mkdir(parents=True)
    return place


def _outside(places: Mapping[str, Path], path: str) -> Path:
    """Where a path of the launcher's is for us: in the innermost folder that has it."""
    inside = max((each for each in places if f"{path}/".startswith(f"{each}/")), key=len)
    return places[inside] / path.removeprefix(inside).lstrip("/")


def _keep_what_libvirt_learned(home: Path) -> None:
    for file in home.glob("cache/libvirt/qemu/cache/capabilities/*.xml"):
        if not (seed() / file.name).exists():
            shutil.copyfile(file, seed() / file.name)


@asynccontextmanager
async def a_node() -> AsyncIterator[Node]:
    """Near the root: the kubelet's own paths are long enough."""
    with _folder() as folder:
        access = AccessSettings(signing_key=signing_key(), known_tokens={"admin": ADMINISTRATOR})
        settings = ServerSettings(data=folder / "store.db", access=access)
        async with serving(settings) as server, client_of(server.url) as client:
            await _furnish(client)
            yield Node(folder, server.url, client)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="handler-", dir="/tmp"))
    folder.chmod(0o755)
    for name in ("kubelet/pods", "plugins", "dev"):
        (folder / name).mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _define(client: Client, name: str) -> None:
    text = files("kubevirt.api.crds").joinpath(f"{name}.json").read_bytes()
    with suppress(AlreadyExists):
        await client.create(CUSTOM_RESOURCE_DEFINITIONS.raw, msgspec.json.decode(text))


async def _furnish(client: Client) -> None:
    await _define(client, "virtualmachineinstances.kubevirt.io")
    with suppress(AlreadyExists):
        await client.create(NAMESPACES.raw, {"metadata": {"name": NAMESPACE}})
    await client.create(NODES.raw, {"metadata": {"name": NODE}})
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                await client.list(VIRTUAL_MACHINE_INSTANCES, NAMESPACE)
            except NotFound:
                await asyncio.sleep(0.05)
            else:
                return


def client_of(url: str) -> Client:
    token = HeldCredentials(token=Inline(b"admin", "token"))
    return Client(Config(server=url, credentials=token))


def a_vmi(name: str = "testvm", **spec: Any) -> Object:
    """No disk, no network: its firmware looks for something to boot for as long as it lives."""
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "finalizers": ["kubevirt.io/foregroundDeleteVirtualMachine"],
        },
        "spec": {
            "domain": {
                "memory": {"guest": "32Mi"},
                "devices": {"autoattachPodInterface": False, "autoattachMemBalloon": False},
            },
            "terminationGracePeriodSeconds": 5,
            **spec,
        },
    }


def a_guest(**spec: Any) -> Object:
    """One that boots, logs in and answers."""
    return a_vmi(
        domain={
            "memory": {"guest": "64Mi"},
            "features": {"acpi": {"enabled": True}},
            "devices": {
                "disks": [{"name": "rootfs", "disk": {"bus": "virtio"}}],
                "interfaces": [{"name": "default", "masquerade": {}}],
            },
        },
        networks=[{"name": "default", "pod": {}}],
        volumes=[{"name": "rootfs", "containerDisk": {"image": "cirros"}}],
        **spec,
    )
