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
from kubevirt.components.ground import verbosity
from kubevirt.components.ground.configuration import LiveConfiguration, following
from kubevirt.components.ground.tls import ClientTls, Files, ServerTls
from kubevirt.components.handler.settings import PORT, HandlerSettings
from kubevirt.components.virtapi.running import Settings as ApiSettings
from kubevirt.components.virtapi.running import running as serving_api
from kubevirt.components.virtapi.serving import Doors
from kubevirt.embedded.process.identities import (
    VIRT_API,
    VIRT_API_CALLING,
    VIRT_CONTROLLER,
    VIRT_HANDLER_SERVING,
    Identities,
    handler_of,
)
from kubevirt.embedded.programs import doors
from kubevirt.embedded.programs.kept import Kept
from kubevirt.embedded.programs.place import Place
from kubevirt.embedded.runtime.images import launcher
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.virt.install import front
from kubevirt.virt.install.options import NAMESPACE

_CONTROLLER: Final = "kubevirt.components.controller.controlling"
_HANDLER: Final = "kubevirt.components.handler.handler"
"""Each takes a while to load, which a thread can do."""


class Together:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def run_api(self, kept: Kept) -> None:
        place, known = self._place, self._place.known
        path = place.home.path / "virt-api.sock"
        calling = ClientTls(known.authority_file, _files(known, VIRT_API_CALLING))
        settings = ApiSettings(doors=Doors(socket=path), handler_tls=calling.context)
        async with (
            self._standing_on(known.config(VIRT_API, place.url)) as (client, configuration),
            serving_api(settings, client=client, clock=place.clock, configuration=configuration),
            self._reached(path),
        ):
            configuration.add_listener(self._follow_verbosity)
            await _stay(kept)

    def _follow_verbosity(self, now: KubeVirtConfiguration) -> None:
        """Whoever is to say the most decides: there is one log for all."""
        programs = [("virt-api", ""), ("virt-controller", "")]
        programs += [("virt-handler", node) for node in self._place.nodes]
        levels = (verbosity.of(name, now, DEFAULT_VERBOSITY, node=node) for name, node in programs)
        self._place.set_verbosity(max(levels))

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
        config = place.known.config(VIRT_CONTROLLER, place.url)
        async with self._standing_on(config) as (client, configuration):
            controller = VirtController(client, place.clock, configuration, settings)
            with kept.at_work():
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
        config = known.config(handler_of(node), place.url)
        async with self._standing_on(config) as (client, configuration):
            configuration.add_listener(called.follow)
            async with handler.serving(
                settings, client, configuration, place.clock, tls=called.context
            ) as running:
                if not network.namespace:
                    await _stay(kept)
                    return
                async with doors.led(network.namespace, network.address, PORT, running.port or 0):
                    await _stay(kept)

    @asynccontextmanager
    async def _standing_on(self, config: Config) -> AsyncIterator[tuple[Client, LiveConfiguration]]:
        clock = self._place.clock
        async with Client(config, clock=clock) as client, following(client, clock) as configuration:
            yield client, configuration


async def _loaded(module: str) -> None:
    await asyncio.to_thread(import_module, module)


async def _stay(kept: Kept) -> None:
    with kept.at_work():
        await asyncio.Event().wait()


def _files(known: Identities, name: str) -> Files:
    found = known.files(name)
    return Files(Path(found.certificate), Path(found.key))
