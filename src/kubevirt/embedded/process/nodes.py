"""A node of the home with everybody whom it needs, and the port where it is asked for logs and terminals."""

import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from kubevirt.api.core.pod import Pod
from kubevirt.api.struct import Quantity
from kubevirt.base.clock import Clock
from kubevirt.embedded.home import Home
from kubevirt.embedded.network.node import NodeNetwork
from kubevirt.embedded.node.devices.devices import DevicePlugins, DeviceSettings
from kubevirt.embedded.node.endpoint import endpoint
from kubevirt.embedded.node.endpoint.finding import Located
from kubevirt.embedded.node.neighbours import Images
from kubevirt.embedded.node.node import Node
from kubevirt.embedded.node.parts import Neighbours
from kubevirt.embedded.node.records import PodRecords
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.embedded.node.volumes.volumes import Volumes
from kubevirt.embedded.process import settings
from kubevirt.embedded.process.identities import Identities, of_node
from kubevirt.embedded.runtime.groups import Groups
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.runtime.seccomp.filters import Filters
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.host.net.netns import Namespace
from kubevirt.kube.client import Client


class Shared:
    """What all nodes of a home have in common."""

    def __init__(
        self, home: Home, known: Identities, images: Images, keeper: Keeper, clock: Clock
    ) -> None:
        self.home = home
        self.known = known
        self.images = images
        self.keeper = keeper
        self.clock = clock
        self.loops = LoopDevices(home.volumes, home.nodes)


def roots_in_use(home: Home) -> set[Path]:
    """By containers that outlived the process before."""
    attempts = (
        attempt
        for folder in home.path.glob("nodes/*/pods/*")
        for attempt in PodRecords(folder).all_attempts()
    )
    return {Path(each.container.root) for each in attempts if each.is_running}


@asynccontextmanager
async def running(
    name: str, shared: Shared, network: NodeNetwork, client: Client
) -> AsyncIterator[Node]:
    """Entered when the node is ready, and every pod that was there before is found again."""
    known, clock = shared.known, shared.clock
    pods = _Pods()
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(
            endpoint.serving(
                _endpoint(name, known, network),
                pods,
                shared.keeper,
                clock,
                elsewhere=await _elsewhere(network),
            )
        )
        own = NodeSettings(
            name=name,
            folder=shared.home.node(name),
            addresses=(network.address,),
            endpoint_port=port,
        )
        volumes = Volumes(
            own,
            client,
            shared.images,
            shared.loops,
            clock,
            allocatable=pods.allocatable,
            on_news=pods.wake,
        )
        await stack.enter_async_context(volumes.running())
        places = DeviceSettings(root=own.root, private=own.folder / "devices")
        devices = DevicePlugins(places, clock, changed=pods.look_again)
        await stack.enter_async_context(devices.running())
        filters = stack.enter_context(Filters(own.root / "var/lib/kubelet/seccomp"))
        neighbours = Neighbours(
            images=shared.images,
            volumes=volumes,
            network=network,
            devices=devices,
            groups=Groups(settings.groups(shared.home, name)),
            filters=filters,
            keeper=shared.keeper,
        )
        pods.node = Node(own, client, neighbours, clock)
        yield await stack.enter_async_context(pods.node.running())


def _endpoint(name: str, known: Identities, network: NodeNetwork) -> endpoint.EndpointSettings:
    files = known.files(of_node(name))
    return endpoint.EndpointSettings(
        host=settings.LOOPBACK if network.namespace else network.address,
        certificate=Path(files.certificate),
        key=Path(files.key),
        authority=known.authority,
    )


async def _elsewhere(network: NodeNetwork) -> socket.socket | None:
    """Where a node that is not the machine itself is asked: its address is in its own namespace."""
    if not network.namespace:
        return None
    with Namespace.at(network.namespace) as own:
        return await own.run(lambda: socket.create_server((network.address, 0)))


class _Pods:
    """The pods of a node that is about to be: volumes and the endpoint are there before it, and ask it
    only when it is.
    """

    node: Node | None = None

    def find(self, namespace: str, pod: str, container: str, uid: str = "") -> Located | None:
        return self.node.pods.find(namespace, pod, container, uid) if self.node else None

    def pods(self) -> Sequence[Pod]:
        return self.node.pods.pods() if self.node else ()

    def wake(self, uid: str) -> None:
        if self.node:
            self.node.pods.wake(uid)

    def look_again(self) -> None:
        if self.node:
            self.node.look_again()

    def allocatable(self) -> Mapping[str, Quantity]:
        return self.node.allocatable if self.node else {}
