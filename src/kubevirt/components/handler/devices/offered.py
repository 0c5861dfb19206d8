"""Which devices a node offers: those that it has.

One that it lacks is not offered at all, so that a pod that wants it is told by the scheduler that no node has
it, and not by a container that does not start. A /dev/kvm that runs no guest is lacking.
"""

from pathlib import Path
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.components.handler.arrivals import Arrivals
from kubevirt.components.handler.devices.nodes import node
from kubevirt.components.handler.devices.plugin import DevicePlugin, OfferedDevice
from kubevirt.components.handler.settings import HandlerSettings

KVM: Final = "kvm"
KNOWN: Final = (
    OfferedDevice(name=KVM, path="/dev/kvm"),
    OfferedDevice(name="tun", path="/dev/net/tun"),
    OfferedDevice(name="vhost-net", path="/dev/vhost-net"),
)


def plugins(
    settings: HandlerSettings, arrivals: Arrivals, clock: Clock, *, has_kvm: bool
) -> list[DevicePlugin]:
    found = ((each, settings.devices / Path(each.path).relative_to("/dev")) for each in KNOWN)
    return [
        DevicePlugin(
            device,
            file,
            node(file, settings.nodes, settings.launcher_user),
            settings.device_plugins,
            settings.places,
            arrivals,
            clock,
        )
        for device, file in found
        if file.exists() and (has_kvm or device.name != KVM)
    ]
