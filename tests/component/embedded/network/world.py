"""A home's network on a machine that is itself a namespace, with an API server and pods that are namespaces.

outside ──veth── machine: eth0 … bridge ──veth── pods: eth0

The API server runs in the test's own namespace; the door lets pods to it by the machine's bridge.
"""

import asyncio
import secrets
import shutil
import socket
import struct
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_interface
from pathlib import Path
from typing import Any, cast

import pytest
from tests.component.host.net_world import a_web_server, address, fetch, in_kernel, needs_root

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod, PodSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.scheme import ENDPOINT_SLICES, SERVICES
from kubevirt.apiserver.plugins.service_addresses import ServiceAddressSettings
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.embedded.network.labels import SERVICE_NAME
from kubevirt.embedded.network.networks import Networks, opened
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.node.neighbours import PodNetwork
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client
from kubevirt.kube.patches import Apply
from kubevirt.virt.network.facts import Route

marks = [
    needs_root,
    pytest.mark.skipif(
        not all(map(shutil.which, ("nft", "dnsmasq"))),
        reason="needs nft and dnsmasq: install nftables dnsmasq-base",
    ),
]

OUTSIDE = "192.0.2.1"
MACHINE = "192.0.2.2"
API_PORT = 6443
A, CNAME, PTR, TXT, AAAA, SRV = 1, 5, 12, 16, 28, 33


@dataclass
class RunningPod:
    """A pod with its namespace open."""

    pod: Pod
    network: PodNetwork
    namespace: Namespace

    @property
    def address(self) -> str:
        return self.network.addresses[0]

    @property
    def uid(self) -> str:
        return self.pod.metadata.uid


@dataclass
class World:
    machine: Namespace
    outside: Namespace
    settings: NetworkSettings
    client: Client
    networks: Networks
    door: Any = None
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)
    pods: list[RunningPod] = field(default_factory=list)

    async def pod(self, name: str, node: str = "", **spec: Any) -> RunningPod:
        made = a_pod(name, **spec)
        network = await self.networks.node(node or self.settings.nodes[0]).set_up(made)
        running = RunningPod(made, network, Namespace.at(network.namespace))
        self.pods.append(running)
        return running

    async def service(self, name: str, *ports: dict[str, Any], **spec: Any) -> str:
        """Its address."""
        body = {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"ports": ports, **spec},
        }
        made = await self.client.create(SERVICES.raw, body)
        return str(made["spec"].get("clusterIP", ""))

    async def endpoints(
        self, service: str, ports: Sequence[dict[str, Any]], *endpoints: dict[str, Any]
    ) -> None:
        """In place of those that it had."""
        body = {
            "metadata": {
                "labels": {SERVICE_NAME: service},
            },
            "addressType": "IPv4",
            "endpoints": list(endpoints),
            "ports": list(ports),
        }
        name = f"{service}-of-test"
        await self.client.patch(
            ENDPOINT_SLICES.raw, name, Apply(body), "default", field_manager="test", force=True
        )

    async def up(self) -> None:
        await self._open.enter_async_context(running(self, SystemClock()))

    async def down(self) -> None:
        """As when its process ends, by whatever signal: what is on the machine stays there."""
        await self._open.aclose()

    def close(self) -> None:
        for each in self.pods:
            each.namespace.close()


def ready(pod: RunningPod, **more: Any) -> dict[str, Any]:
    return {"addresses": [pod.address], "conditions": {"ready": True}, **more}


def a_pod(name: str, **spec: Any) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default", uid=f"{name}-{secrets.token_hex(4)}"),
        spec=PodSpec(containers=(Container(name="main"),), **spec),
    )


@asynccontextmanager
async def a_world(tmp_path: Path, **more: Any) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        outside, machine = stack.enter_context(_machine())
        store = tmp_path / "store"
        store.mkdir()
        services = "10.201.0.0/16"
        server = await stack.enter_async_context(
            serving(
                ServerSettings(
                    data=store / "store.db",
                    tokens={"admin": ADMINISTRATOR},
                    services=ServiceAddressSettings(cidr=services),
                )
            )
        )
        token = HeldCredentials(token=Inline(b"admin", "token"))
        client = await stack.enter_async_context(
            Client(Config(server=server.url, credentials=token))
        )
        settings = NetworkSettings(
            folder=tmp_path / "network",
            api_port=API_PORT,
            home_id=secrets.token_hex(4),
            services=services,
            resolver_files=(stack.enter_context(_resolver_file()),),
            **{"pods": "10.200.0.0/16", **more},
        )
        world = World(machine, outside, settings, client, None, server.also_on)  # type: ignore[arg-type]
        stack.callback(world.close)
        await world.up()
        try:
            yield world
        finally:
            await world.networks.tear_down_all()
            await world.down()


@asynccontextmanager
async def running(world: World, clock: Clock) -> AsyncIterator[None]:
    """The network of a world that is down."""
    network = opened(world.settings, world.client, clock, door=world.door, machine=world.machine)
    async with network as networks:
        world.networks = networks
        async with clock.timeout(60):
            await networks.settled()
        yield


@contextmanager
def _machine() -> Iterator[tuple[Namespace, Namespace]]:
    """With an uplink, as small as it gets."""
    with Namespace.new("outside") as outside, Namespace.new("machine") as machine:

        def cable(kernel: Kernel) -> None:
            kernel.set_up(kernel.need("lo"))
            link = kernel.add_veth("machine0", peer="eth0", peer_namespace=machine.fd, mtu=1450)
            address(kernel, "machine0", f"{OUTSIDE}/24")
            kernel.set_up(link)

        def uplink(kernel: Kernel) -> None:
            kernel.set_up(kernel.need("lo"))
            link = kernel.need("eth0")
            kernel.add_address(link, ip_interface(f"{MACHINE}/24"))
            kernel.set_up(link)
            kernel.add_route(link, Route(destination="0.0.0.0/0", gateway=OUTSIDE))

        in_kernel(outside, cable)
        in_kernel(machine, uplink)
        yield outside, machine


@contextmanager
def _resolver_file() -> Iterator[Path]:
    """Where dnsmasq, which is nobody in particular, can read it."""
    with tempfile.TemporaryDirectory(prefix="kvpy-") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "resolv.conf"
        path.write_text(f"nameserver {OUTSIDE}\nsearch lab.example\n")
        yield path


async def becomes(ask: Callable[[], Awaitable[Any]], wanted: Any, limit_s: float = 60) -> None:
    """Returns when it is so."""
    clock, said = SystemClock(), None
    try:
        async with clock.timeout(limit_s):
            while (said := await ask()) != wanted:
                await clock.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"it is {said!r}, not {wanted!r}")


async def answers(pod: Namespace, url: str, text: str) -> None:
    """Returns when a web server says so."""
    await becomes(lambda: fetch(pod, url, patience_s=2), text)


@asynccontextmanager
async def a_server_in(pod: RunningPod, text: str, port: int = 8080) -> AsyncIterator[list[str]]:
    """Gives the visitors' addresses."""
    async with a_web_server(pod.namespace, pod.address, port, text) as web:
        yield web.visitors


class _Echo(asyncio.DatagramProtocol):
    def __init__(self, text: str) -> None:
        self._text = text

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._transport.sendto(self._text.encode() + data, addr)


@asynccontextmanager
async def datagrams_in(pod: RunningPod, text: str, port: int = 5353) -> AsyncIterator[None]:
    def bound() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((pod.address, port))
        return made

    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Echo(text), sock=pod.namespace.call(bound)
    )
    try:
        yield
    finally:
        transport.close()


async def datagram(namespace: Namespace, address: str, port: int, patience_s: float = 1) -> str:
    """What comes back; empty for nothing."""

    def ask() -> str:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(patience_s)
            asking.connect((address, port))
            try:
                asking.send(b"!")
                return asking.recv(2000).decode()
            except OSError:
                return ""

    return await namespace.run(ask)


@dataclass(frozen=True)
class Answer:
    code: int
    """0 for yes, 3 for no such name."""
    data: tuple[bytes, ...]

    @property
    def addresses(self) -> set[str]:
        return {socket.inet_ntoa(each) for each in self.data if len(each) == 4}


async def lookup(namespace: Namespace, server: str, name: str, kind: int = A) -> Answer | None:
    """What a name server says; None if it says nothing."""

    def ask() -> bytes:
        labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split("."))
        question = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(5)
            asking.connect((server, 53))
            try:
                asking.send(question + struct.pack(">HH", kind, 1))
                return asking.recv(65535)
            except OSError:
                return b""

    answer = await namespace.run(ask)
    if not answer:
        return None
    count = struct.unpack(">H", answer[6:8])[0]
    at = 12 + len(name) + 2 + 4
    found = []
    for _ in range(count):
        at = _after_name(answer, at)
        length = struct.unpack(">H", answer[at + 8 : at + 10])[0]
        found.append(answer[at + 10 : at + 10 + length])
        at += 10 + length
    return Answer(answer[3] & 15, tuple(found))


def _after_name(message: bytes, at: int) -> int:
    while message[at] and message[at] < 0xC0:
        at += 1 + message[at]
    return at + (2 if message[at] else 1)


async def resolves(namespace: Namespace, server: str, name: str, *addresses: str) -> None:
    """Returns when a name has just these addresses."""

    async def ask() -> set[str] | None:
        answer = await lookup(namespace, server, name)
        return None if answer is None else answer.addresses

    await becomes(ask, set(addresses))
