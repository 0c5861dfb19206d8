"""Who is connected to the machine: pods with their leases, and nodes that are not the machine itself.

Kept as it should be by `mend`, which is called when the kernel tells of a change: a link that somebody
removed is made again, with the pod's address and all.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.network import cables, gateway
from kubevirt.embedded.network.cables import USUAL_SWITCHES, Cable
from kubevirt.embedded.network.leases import Leases
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.host.net.netns import Namespace

log = get_logger(__name__)

AT_ONCE: Final = 4
"""The kernel changes links one after the other; more threads would only wait for it."""


class Switchboard:
    def __init__(self, settings: NetworkSettings, machine: Namespace) -> None:
        """Reads the leases that are there."""
        self.settings = settings
        self._machine = machine
        self._mtu = gateway.USUAL_MTU
        for name in ("pods", "nodes"):
            (settings.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        self._leases = Leases(settings.folder / "leases", settings.pod_range, settings.first_pod)
        self._laid: dict[str, Cable] = {}
        """By the pod's UID, or a name that is no UID for a node: what this process has seen laid."""
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One for each owner: nothing is mended that is on its way out."""
        self._room = asyncio.Semaphore(AT_ONCE)

    def close(self) -> None:
        self._leases.close()

    async def open(self) -> None:
        """The gateway, and the namespaces of nodes."""
        self._mtu = (await self._machine.run(partial(gateway.make, self.settings))).mtu
        for node in self.settings.nodes[1:]:
            cable = self._node_cable(node)
            await self._machine.run(partial(self._lay, cable))
            self._laid[_of_node(node)] = cable

    async def connect(
        self, node: str, uid: str, name: str, switches: Mapping[str, str]
    ) -> tuple[Path, IPv4Address]:
        """The namespace and the address of a pod; what is there is found again."""
        async with self._turn(uid):
            lease = self._leases.take(uid, node, name)
            cable = self._laid.get(uid)
            if cable is None:
                cable = self._pod_cable(uid, IPv4Address(lease.address), switches)
                async with self._room:
                    await self._machine.run(partial(self._lay, cable))
                self._laid[uid] = cable
        return cable.path, cable.address

    async def disconnect(self, uid: str) -> None:
        async with self._turn(uid):
            self._laid.pop(uid, None)
            await self._remove(uid)

    async def mend(self) -> None:
        laid = dict(self._laid)
        seen = await self._machine.run(partial(gateway.make, self.settings))
        self._mtu = seen.mtu
        for owner, cable in laid.items():
            if not cables.is_laid(seen.links, seen.routes, cable):
                async with self._turn(owner):
                    if owner in self._laid:
                        await self._plug_in(owner, cable)

    async def take_away(self) -> None:
        """All of it. Nobody may connect or mend meanwhile."""
        owners = [*self._leases.all, *map(_of_node, self.settings.nodes[1:])]
        self._laid.clear()
        async with asyncio.TaskGroup() as tasks:
            for owner in owners:
                tasks.create_task(self._remove(owner))
        await self._machine.run(partial(gateway.take_away, self.settings))

    async def _remove(self, owner: str) -> None:
        async with self._room:
            link, path = self.settings.link(owner), self._path(owner)
            await self._machine.run(partial(cables.remove, link, path))
        self._leases.give_back(owner)

    def _turn(self, owner: str) -> asyncio.Lock:
        return self._turns.setdefault(owner, asyncio.Lock())

    def node_path(self, node: str) -> Path | None:
        """Of its namespace; None for the machine's own."""
        return None if node == self.settings.nodes[0] else self._path(_of_node(node))

    def _lay(self, cable: Cable) -> None:
        cables.lay(self.settings, cable, self._mtu)

    async def _plug_in(self, owner: str, cable: Cable) -> None:
        try:
            await self._machine.run(partial(self._lay, cable))
        except KubevirtError as error:
            log.warning("a pod's link cannot be mended", owner=owner, reason=str(error))
        else:
            log.warning("a pod's link was mended", owner=owner, link=cable.link)

    def _pod_cable(self, uid: str, address: IPv4Address, switches: Mapping[str, str]) -> Cable:
        return Cable(
            link=self.settings.link(uid),
            path=self._path(uid),
            address=address,
            switches=switches,
        )

    def _node_cable(self, node: str) -> Cable:
        owner = _of_node(node)
        return Cable(
            link=self.settings.link(owner),
            path=self._path(owner),
            address=self.settings.node_address(node),
            switches=USUAL_SWITCHES,
        )

    def _path(self, owner: str) -> Path:
        kind, _, name = owner.rpartition("/")
        folder = self.settings.folder / ("nodes" if kind else "pods")
        return folder / "".join(each for each in name if each.isalnum() or each in "-.")[:64]


def _of_node(node: str) -> str:
    return f"node/{node}"
