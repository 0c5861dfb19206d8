"""One device file, offered to the node in as many places as guests may open it at once.

It is well as long as the file is there. A kubelet that was restarted has forgotten us, and has removed our
socket: then we come again.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.components.handler.arrivals import Arrivals
from kubevirt.rpc.device_offer import Offer, offering, register
from kubevirt.rpc.devices import VERSION, Device, Node, Registered

log = get_logger(__name__)

KUBELET: Final = "kubelet.sock"
LOOK_S: Final = 10.0
"""Between two looks whether the device is there, and whether the kubelet is the same."""
PAUSES_S: Final = (1.0, 2.0, 5.0, 10.0)
"""Before we come again, when it went wrong; KubeVirt's."""


class OfferedDevice(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Of the resource, behind `devices.kubevirt.io/`."""
    path: str
    """Of the device in containers."""

    @property
    def resource(self) -> str:
        return f"devices.kubevirt.io/{self.name}"

    @property
    def socket(self) -> str:
        return f"kubevirt-{self.name}.sock"


class DevicePlugin:
    def __init__(
        self,
        device: OfferedDevice,
        file: Path,
        node: Path,
        folder: Path,
        places: int,
        arrivals: Arrivals,
        clock: Clock,
    ) -> None:
        """`file` is where the device is for us, `node` what containers get of it; `folder` has the kubelet's
        socket in it.
        """
        self.registrations = 0
        self._device = device
        self._file = file
        self._node = node
        self._folder = folder
        self._places = places
        self._arrivals = arrivals
        self._clock = clock

    async def run(self) -> None:
        """Offers until cancelled."""
        failures = 0
        while True:
            before = self.registrations
            try:
                await self._offer()
            except (KubevirtError, OSError) as error:
                log.warning("a device is not offered", device=self._device.name, reason=str(error))
            failures = 0 if self.registrations > before else failures + 1
            await self._clock.sleep(PAUSES_S[min(failures, len(PAUSES_S)) - 1] if failures else 0)

    async def _offer(self) -> None:
        """Until the kubelet is another one."""
        device = self._device
        node = Node(device.path, str(self._node), "mrw")
        with Root.open(self._folder) as folder, self._arrivals.at(folder) as arrived:
            folder.unlink(device.socket, missing_ok=True)
            kubelet = folder.stat(KUBELET).st_ino
            with folder.bindable(device.socket) as address:
                async with offering(address, Offer(devices=self._devices, nodes=(node,))):
                    with folder.connectable(KUBELET) as door:
                        socket, resource = device.socket, device.resource
                        await register(
                            door, Registered(version=VERSION, socket=socket, resource=resource)
                        )
                    self.registrations += 1
                    while _is_same(folder, kubelet, device.socket):
                        with suppress(TimeoutError):
                            async with self._clock.timeout(LOOK_S):
                                await arrived.wait()
                        arrived.clear()

    async def _devices(self) -> AsyncIterator[Sequence[Device]]:
        told: bool | None = None
        while True:
            is_there = self._file.exists()
            if is_there != told:
                yield [Device(f"{self._device.name}{n}", is_there) for n in range(self._places)]
                told = is_there
            await self._clock.sleep(LOOK_S)


def _is_same(folder: Root, kubelet: int, socket: str) -> bool:
    try:
        return folder.stat(KUBELET).st_ino == kubelet and folder.exists(socket)
    except FileNotFoundError:
        return False
