"""Devices of the node that the launcher opens, as resources of device plugins.

One that no node advertises would keep the pod waiting for ever, so it is asked for only where it is
offered, or where there is no guest without it.
"""

from collections.abc import Mapping

from kubevirt.virt.errors import UnsupportedError
from kubevirt.virt.pod.config import KVM, TUN, VHOST_NET, VHOST_VSOCK
from kubevirt.virt.pod.launch import Launch


def requests(launch: Launch) -> Mapping[str, str]:
    asked = [] if launch.config.emulation else [KVM]
    offered = launch.config.devices
    interfaces = [each for each in launch.devices.interfaces if each.state != "absent"]
    # The tap is made by virt-handler; QEMU takes hold of it through the device.
    if interfaces and TUN in offered:
        asked.append(TUN)
    if VHOST_NET in offered and any(each.model in {None, "virtio"} for each in interfaces):
        asked.append(VHOST_NET)
    if launch.devices.autoattach_vsock:
        if VHOST_VSOCK not in offered:
            raise UnsupportedError(
                "autoattachVSOCK is set, but no node offers vsock devices; remove it"
            )
        asked.append(VHOST_VSOCK)
    return dict.fromkeys(asked, "1")
