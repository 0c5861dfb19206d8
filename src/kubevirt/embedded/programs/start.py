"""How KubeVirt comes into a home that starts: side by side with what it does not need.

What runs its programs is loaded by a thread while others wait for the disk and the network. It is installed, or found to be, as
soon as the API server answers. What is left for the end is to start the programs.
"""

import asyncio
from importlib import import_module
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.components.ground.installing import Installed, install
from kubevirt.embedded.home import Home
from kubevirt.embedded.process.identities import Identities
from kubevirt.embedded.programs import kubeconfigs, whereabouts
from kubevirt.embedded.programs.place import Place
from kubevirt.embedded.programs.programs import Programs, Ways
from kubevirt.host import kvm
from kubevirt.kube.client import Client
from kubevirt.virt.install.options import Options, configuration

_TOGETHER: Final = "kubevirt.embedded.programs.together"
_SEPARATE: Final = "kubevirt.embedded.programs.separate"


class Start:
    def __init__(self, tasks: asyncio.TaskGroup, *, is_separate: bool) -> None:
        self._tasks = tasks
        self._is_separate = is_separate
        module = _SEPARATE if is_separate else _TOGETHER
        self._loading = tasks.create_task(asyncio.to_thread(import_module, module))

    def install(self, home: Home, known: Identities, client: Client, clock: Clock) -> None:
        """Begins to. `client` may do everything: it gives rights to others."""
        self._client = client
        self._installing = self._tasks.create_task(_install(home, known, client, clock))

    async def programs(self, place: Place) -> tuple[Programs, Installed]:
        installed = await self._installing
        await self._loading
        return Programs(place, self._client, await self._ways(place)), installed

    async def _ways(self, place: Place) -> Ways:
        """One of the two, and nothing of the other: each is a good deal to load."""
        await whereabouts.forget_all(self._client)
        if self._is_separate:
            from kubevirt.embedded.programs.separate import Separate  # noqa: PLC0415  # loaded by now

            return Separate(place, self._client)
        from kubevirt.embedded.programs.together import Together  # noqa: PLC0415  # loaded by now

        if place.home.programs.exists():  # of a time when they were processes
            kubeconfigs.forget(place.home)
        return Together(place, self._client)


async def _install(home: Home, known: Identities, client: Client, clock: Clock) -> Installed:
    """Guests run on the hardware where they can; images of their disks are mounted as they are."""
    found = await kvm.acceleration(home.path)
    chosen = configuration(is_emulated=not found.usable, has_image_volumes=True)
    return await install(client, Options(authority=known.authority, configuration=chosen), clock)
