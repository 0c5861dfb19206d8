"""Guests that callers may ask for: those of this node that run, by namespace and name."""

from dataclasses import dataclass

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.components.handler.launchers.attendant import Attendant
from kubevirt.components.handler.launchers.attendants import Attendants
from kubevirt.components.handler.launchers.folders import PodFolders
from kubevirt.components.handler.web.errors import Denied
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.rpc.cmd import Launcher


@dataclass(frozen=True, slots=True)
class AskedGuest:
    vmi: VirtualMachineInstance
    attendant: Attendant

    @property
    def uid(self) -> str:
        return self.attendant.whose.uid

    @property
    def encoded(self) -> bytes:
        return msgspec.json.encode(self.vmi)

    @property
    def launcher(self) -> Launcher:
        if self.attendant.door is None:
            raise Denied(503, "the launcher of the VirtualMachineInstance does not answer")
        return self.attendant.door.launcher

    @property
    def folders(self) -> PodFolders:
        if self.attendant.folders is None:
            raise Denied(503, "the launcher of the VirtualMachineInstance is not there yet")
        return self.attendant.folders


class Guests:
    def __init__(self, vmis: Informer[VirtualMachineInstance], attendants: Attendants) -> None:
        self._vmis = vmis
        self._attendants = attendants

    def get(self, namespace: str, name: str) -> AskedGuest:
        vmi = self._vmis.get(Key(namespace, name))
        attendant = self._attendants.find(vmi.metadata.uid) if vmi else None
        if vmi is None or attendant is None:
            raise Denied(404, f"VirtualMachineInstance {name} in namespace {namespace} not found.")
        return AskedGuest(vmi, attendant)
