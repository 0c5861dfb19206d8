"""Devices of the node that the launcher opens, as resources of device plugins.

One that no node advertises would keep the pod waiting for ever, so it is asked for only where it is
offered, or where there is no guest without it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kubevirt.virt.errors import UnsupportedError
from kubevirt.virt.pod.config import KVM, TUN, VHOST_NET, VHOST_VSOCK
from kubevirt.virt.pod.launch import Launch

HELPFUL: Final = frozenset({VHOST_NET, VHOST_VSOCK})
"""What a guest has use for, and not every node has."""


def offered(nodes: Iterable[frozenset[str]]) -> frozenset[str]:
    """What pods may ask for: of what helps, that which all `nodes` have, since a pod that asks for more could go to fewer
    of them; and what no guest with a network card can do without.
    """
    each = [found & HELPFUL for found in nodes]
    return frozenset.intersection(*each).union({TUN}) if each else frozenset({TUN})


def requests(launch: Launch) -> Mapping[str, str]:
    asked = [] if launch.config.emulation else [KVM]
    has = launch.config.devices
    interfaces = [each for each in launch.devices.interfaces if each.state != "absent"]
    # The tap is made by virt-handler; QEMU takes hold of it through the device.
    if interfaces and TUN in has:
        asked.append(TUN)
    is_virtio = any(each.model in {None, "virtio"} for each in interfaces)
    # As upstream: where the guest is emulated, a card in the kernel is not what it waits for.
    if VHOST_NET in has and is_virtio and not launch.config.emulation:
        asked.append(VHOST_NET)
    if launch.devices.autoattach_vsock:
        if VHOST_VSOCK not in has:
            raise UnsupportedError(
                "autoattachVSOCK is set, but no node offers vsock devices; remove it"
            )
        asked.append(VHOST_VSOCK)
    return dict.fromkeys(asked, "1")
