"""KubeVirt's programs as processes of their own: the installed ones, each with an identity, a certificate and a log of its own.

They are started, asked whether they are ready, and started again when they end (`kept.py`). Those of a node that has a network of
its own are in that network. None of them is told that it lives in a home.
"""

import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Final
from urllib.parse import urlsplit

from kubevirt.base.tasks import first_of
from kubevirt.components.handler.settings import PORT as CONSOLE_PORT
from kubevirt.embedded.network.node import NodeNetwork
from kubevirt.embedded.process.identities import (
    VIRT_API,
    VIRT_API_CALLING,
    VIRT_API_SERVING,
    VIRT_CONTROLLER,
    VIRT_CONTROLLER_SERVING,
    VIRT_HANDLER_SERVING,
    handler_of,
)
from kubevirt.embedded.programs import (
    asking,
    child,
    command_lines,
    former_leader,
    kubeconfigs,
    sighted,
    whereabouts,
)
from kubevirt.embedded.programs.command_lines import Standing
from kubevirt.embedded.programs.kept import Kept
from kubevirt.embedded.programs.kubeconfigs import Server
from kubevirt.embedded.programs.place import Place
from kubevirt.embedded.programs.whereabouts import Door
from kubevirt.embedded.runtime.images import launcher
from kubevirt.host.net.netns import Namespace
from kubevirt.kube.client import Client

SERVERS_NAME: Final = "kubernetes.default.svc"
"""What the API server's certificate is good for at any address."""

At = Callable[[Standing], AbstractAsyncContextManager[None]]


class Separate:
    def __init__(self, place: Place, client: Client) -> None:
        """`client` may do everything: it says where virt-api is, and gives back what a program left that was killed."""
        self._place = place
        self._client = client
        place.home.programs.mkdir(mode=0o755, exist_ok=True)

    async def run_api(self, kept: Kept) -> None:
        standing = await self._standing(VIRT_API, VIRT_API_SERVING, self._first)
        words = command_lines.virt_api(standing, self._place.known.files(VIRT_API_CALLING))
        await self._run(VIRT_API, command_lines.API, words, standing, kept, at=self._found)

    @asynccontextmanager
    async def _found(self, standing: Standing) -> AsyncIterator[None]:
        async with self._told(whereabouts.API, standing):
            yield

    def _told(self, door: Door, standing: Standing) -> AbstractAsyncContextManager[None]:
        clock = self._place.clock
        return whereabouts.told(self._client, door, standing.address, standing.port, clock)

    async def run_controller(self, kept: Kept) -> None:
        await former_leader.give_back(self._client, self._place.home.id)
        standing = await self._standing(VIRT_CONTROLLER, VIRT_CONTROLLER_SERVING, self._first)
        words = command_lines.virt_controller(standing, launcher.NAME)
        await self._run(VIRT_CONTROLLER, command_lines.CONTROLLER, words, standing, kept)

    async def run_handler(self, node: str, kept: Kept) -> None:
        place, name = self._place, handler_of(node)
        network = place.networks.node(node)
        standing = await self._standing(name, VIRT_HANDLER_SERVING, network)
        words = command_lines.virt_handler(
            standing, node, place.kubelet(node), place.handlers_records(node)
        )
        await self._run(
            name,
            command_lines.HANDLER,
            words,
            standing,
            kept,
            namespace=network.namespace,
            ports=(CONSOLE_PORT,),
        )

    # All of them

    @property
    def _first(self) -> NodeNetwork:
        """Of the node that is the machine itself."""
        return self._place.networks.node(self._place.nodes[0])

    async def _standing(self, name: str, shown: str, network: NodeNetwork) -> Standing:
        known = self._place.known
        return Standing(
            kubeconfig=kubeconfigs.write(
                self._place.home, name, self._server(network), known.user(name)
            ),
            address=network.address,
            port=await _free_port(network),
            shown=known.files(shown),
            authority=known.authority_file,
        )

    def _server(self, network: NodeNetwork) -> Server:
        """Its loopback address is the machine's. From another network it is found where pods find it."""
        url, authority = self._place.url, self._place.known.authority_file
        if not network.namespace:
            return Server.at(url, authority)
        pods_url = f"https://{self._first.address}:{urlsplit(url).port}"
        return Server.at(pods_url, authority, name=SERVERS_NAME)

    async def _run(
        self,
        name: str,
        program: str,
        words: Sequence[str],
        standing: Standing,
        kept: Kept,
        *,
        namespace: str = "",
        ports: Sequence[int] = (),
        at: At = lambda _: nullcontext(),
    ) -> None:
        """Until it ends. `ports` are further ones that it opens when it is ready; `at` is entered while it is."""
        place = self._place
        command = child.Command(
            words=[*command_lines.program(program), *words],
            log=sighted.log_file(place.home, name),
            namespace=namespace,
        )
        async with child.running(command, place.clock) as process:

            async def serve() -> None:
                async with asking.line(standing, program, place.clock) as line:
                    await asking.until_ready(line, standing.address, ports, place.clock)
                    async with at(standing), self._told(whereabouts.figures_of(name), standing):
                        with kept.at_work(process.pid):
                            await asking.until_silent(line, place.clock)

            await first_of(process.ended(), serve())


async def _free_port(network: NodeNetwork) -> int:
    """It may be gone a moment later: then the program ends, and its next start takes another one."""

    def look() -> int:
        with socket.create_server((network.address, 0)) as probe:
            number: int = probe.getsockname()[1]
            return number

    if not network.namespace:
        return look()
    with Namespace.at(network.namespace) as own:
        return await own.run(look)
