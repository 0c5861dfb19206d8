"""QEMU, as this node has it: its version and what it offers. Asked once, since it does not change."""

import os

from kubevirt.components.launcher.preparer import Offers
from kubevirt.host.libvirt import node
from kubevirt.host.libvirt.connection import Caller


class Qemu:
    def __init__(self, hypervisor: Caller, *, kvm: bool) -> None:
        self._hypervisor = hypervisor
        self._kvm = kvm
        self._version = ""
        self._offers: Offers | None = None

    async def version(self) -> str:
        if not self._version:
            self._version = (await node.versions(self._hypervisor)).qemu
        return self._version

    async def offers(self) -> Offers:
        if self._offers is None:
            found = await node.offers(
                self._hypervisor, architecture=os.uname().machine, kvm=self._kvm
            )
            self._offers = Offers(machine_types=found.machine_types, cpu_models=found.cpu_models)
        return self._offers
