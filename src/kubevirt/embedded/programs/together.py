"""KubeVirt's programs as tasks of the home's process: what each of them needs there.

A name to ask under, certificates, folders, a place to listen.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.log import DEFAULT_VERBOSITY
from kubevirt.base.semantic_version import VERSION
from kubevirt.components.ground import verbosity
from kubevirt.components.ground.configuration import following
from kubevirt.components.ground.program import Ground
from kubevirt.components.ground.tls import ClientTls, Files, ServerTls
from kubevirt.components.handler.settings import PORT, HandlerSettings
from kubevirt.components.virtapi.running import Settings as ApiSettings
from kubevirt.components.virtapi.running import running as serving_api
from kubevirt.components.virtapi.serving import Doors
from kubevirt.embedded.process.identities import (
    VIRT_API,
    VIRT_API_CALLING,
    VIRT_API_SERVING,
    VIRT_CONTROLLER,
    VIRT_CONTROLLER_SERVING,
    VIRT_HANDLER_SERVING,
    Identities,
    handler_of,
)
from kubevirt.embedded.programs import doors, whereabouts
from kubevirt.embedded.programs.kept import Kept
from kubevirt.embedded.programs.place import Place
from kubevirt.embedded.runtime.images import launcher
from kubevirt.kube.client import Client
from kubevirt.kube.http.health import Health, Page, telling
from kubevirt.kube.metrics import Metrics
from kubevirt.virt.install import front
from kubevirt.virt.install.options import NAMESPACE

_CONTROLLER: Final = "kubevirt.components.controller.controlling"
_HANDLER: Final = "kubevirt.components.handler.handler"
"""Each takes a while to load, which a thread can do."""


class Together:
    def __init__(self, place: Place, client: Client) -> None:
        """`client` may do everything: it says where figures are."""
        self._place = place
        self._client = client

    async def run_api(self, kept: Kept) -> None:
        place, known = self._place, self._place.known
        path = place.home.path / "virt-api.sock"
        calling = ClientTls(known.authority_file, _files(known, VIRT_API_CALLING))
        async with self._ground(kept, VIRT_API, VIRT_API_SERVING) as ground:
            settings = ApiSettings(
                doors=Doors(socket=path),
                handler_tls=calling.context,
                metrics=ground.metrics,
                health=ground.health,
            )
            async with (
                serving_api(
                    settings,
                    client=ground.client,
                    clock=place.clock,
                    configuration=ground.configuration,
                ),
                self._reached(path),
            ):
                ground.configuration.add_listener(self._follow_verbosity)
                await _stay(kept)

    def _follow_verbosity(self, now: KubeVirtConfiguration) -> None:
        """Whoever is to say the most decides: there is one log for all."""
        programs = [("virt-api", ""), ("virt-controller", "")]
        programs += [("virt-handler", node) for node in self._place.nodes]
        levels = (verbosity.of(name, now, DEFAULT_VERBOSITY, node=node) for name, node in programs)
        verbosity.follow(max(levels), self._place.set_verbosity)

    @asynccontextmanager
    async def _reached(self, path: Path) -> AsyncIterator[None]:
        """By the API server, at a socket that nobody else can open."""
        callees = self._place.callees
        callees.register(NAMESPACE, front.NAME, str(path))
        try:
            yield
        finally:
            callees.forget(NAMESPACE, front.NAME)

    async def run_controller(self, kept: Kept) -> None:
        place = self._place
        await _loaded(_CONTROLLER)
        from kubevirt.components.controller.controlling import VirtController  # noqa: PLC0415
        from kubevirt.components.controller.settings import (  # noqa: PLC0415
            Settings as ControllerSettings,
        )

        # The lock of the home has one holder, so a lease that a process left that died is ours, too.
        settings = ControllerSettings(
            launcher_image=launcher.NAME, identity=f"embedded_{place.home.id}"
        )
        async with self._ground(kept, VIRT_CONTROLLER, VIRT_CONTROLLER_SERVING) as ground:
            controller = VirtController(
                ground.client, place.clock, ground.configuration, settings, at_work=kept.at_work
            )
            controller.show(ground.metrics, ground.health, ground.pages)
            await controller.run()

    async def run_handler(self, node: str, kept: Kept) -> None:
        place, known = self._place, self._place.known
        await _loaded(_HANDLER)
        from kubevirt.components.handler import handler  # noqa: PLC0415

        network = place.networks.node(node)
        settings = HandlerSettings(
            node=node,
            kubelet=place.kubelet(node),
            device_plugins=place.kubelet(node) / "device-plugins",
            records=place.handlers_records(node),
            address=doors.LOOPBACK if network.namespace else network.address,
            port=0 if network.namespace else PORT,
        )
        called = ServerTls(
            _files(known, VIRT_HANDLER_SERVING), clients=known.authority_file, is_demanding=True
        )
        async with self._ground(
            kept, "virt-handler", VIRT_HANDLER_SERVING, handler_of(node)
        ) as ground:
            ground.configuration.add_listener(called.follow)
            async with handler.serving(
                settings, ground.client, ground.configuration, place.clock, tls=called.context
            ) as running:
                running.show(ground.metrics, ground.health)
                if not network.namespace:
                    await _stay(kept)
                    return
                async with doors.led(network.namespace, network.address, PORT, running.port or 0):
                    await _stay(kept)

    @asynccontextmanager
    async def _ground(
        self, kept: Kept, program: str, shown: str, name: str = ""
    ) -> AsyncIterator[Ground]:
        """What a program stands on, and who tells how it is: at a port of the first node, with a certificate of its own."""
        place, clock = self._place, self._place.clock
        name = name or program
        config = place.known.config(name, place.url)
        metrics, health = Metrics(), Health()
        pages: dict[str, Page] = {}
        tls = ServerTls(_files(place.known, shown))
        address = place.networks.node(place.nodes[0]).address
        async with (
            Client(config, clock=clock) as client,
            following(client, clock) as configuration,
            telling(
                metrics, health, clock, host=address, port=0, tls=tls.context, pages=pages
            ) as port,
            whereabouts.told(self._client, whereabouts.figures_of(name), address, port, clock),
        ):
            configuration.add_listener(tls.follow)
            metrics.add_version(VERSION)
            metrics.add_traffic(client.traffic)
            health.add("start", lambda: "" if kept.is_at_work else "not at work yet")
            metrics.add_readiness(program, lambda: not health.trouble)
            yield Ground(
                client=client,
                clock=clock,
                configuration=configuration,
                namespace=NAMESPACE,
                metrics=metrics,
                health=health,
                pages=pages,
                tls=tls,
            )


async def _loaded(module: str) -> None:
    await asyncio.to_thread(import_module, module)


async def _stay(kept: Kept) -> None:
    with kept.at_work():
        await asyncio.Event().wait()


def _files(known: Identities, name: str) -> Files:
    found = known.files(name)
    return Files(Path(found.certificate), Path(found.key))
