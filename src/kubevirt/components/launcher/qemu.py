"""QEMU, as this node has it: its version and what it offers. Asked once, since it does not change."""

from kubevirt.components.launcher.preparer import Offers
from kubevirt.host.libvirt.connection import Caller


class Qemu:
    def __init__(self, hypervisor: Caller) -> None:
        self._hypervisor = hypervisor
        self._version = ""

    async def version(self) -> str:
        if not self._version:
            number = await self._hypervisor.call(
                "ask for QEMU's version", lambda it: it.getVersion()
            )
            major, rest = divmod(number, 1_000_000)
            minor, release = divmod(rest, 1000)
            self._version = f"{major}.{minor}.{release}"
        return self._version

    async def offers(self) -> Offers:
        return Offers()
