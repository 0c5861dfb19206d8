"""How KubeVirt comes into a home that starts: side by side with what it does not need.

Its programs are loaded by a thread while others wait for the disk and the network. It is installed, or found to be, as soon
as the API server answers. What is left for the end is to start the programs.
"""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Final

from kubevirt.base.clock import Clock
from kubevirt.components.ground.installing import Installed, install
from kubevirt.embedded.home import Home
from kubevirt.embedded.process.identities import Identities
from kubevirt.embedded.programs.place import Place
from kubevirt.host import kvm
from kubevirt.kube.client import Client
from kubevirt.virt.install.options import Options, configuration

if TYPE_CHECKING:
    from kubevirt.embedded.programs.programs import Programs

_PROGRAMS: Final = "kubevirt.embedded.programs.programs"


class Start:
    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._loading = tasks.create_task(asyncio.to_thread(import_module, _PROGRAMS))

    def install(self, home: Home, known: Identities, client: Client, clock: Clock) -> None:
        """Begins to. `client` may do everything: it gives rights to others."""
        self._client = client
        self._installing = self._tasks.create_task(_install(home, known, client, clock))

    async def programs(self, place: Place) -> "tuple[Programs, Installed]":
        installed = await self._installing
        await self._loading
        from kubevirt.embedded.programs.programs import Programs  # noqa: PLC0415  # loaded by now

        return Programs(place, self._client), installed


async def _install(home: Home, known: Identities, client: Client, clock: Clock) -> Installed:
    """Guests run on the hardware where they can; images of their disks are mounted as they are."""
    found = await kvm.acceleration(home.path)
    chosen = configuration(is_emulated=not found.usable, feature_gates=["ImageVolume"])
    return await install(client, Options(authority=known.authority, configuration=chosen), clock)
