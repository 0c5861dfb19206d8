"""Queues of network cards. The tap and the card must have the same number, so both ask here."""

from typing import Final

from kubevirt.api.devices import Devices
from kubevirt.api.interfaces import Interface
from kubevirt.virt.topology import Topology

VIRTIO: Final = "virtio"
QUEUE_LIMIT: Final = 256
"""Of a tap device."""


def model_of(interface: Interface) -> str:
    return interface.model or VIRTIO


def queues_for(devices: Devices, topology: Topology, interface: Interface) -> int:
    """One for each vCPU of a virtio card if the spec asks for it; 0 means no multiqueue."""
    if not devices.network_interface_multiqueue or model_of(interface) != VIRTIO:
        return 0
    return min(topology.vcpus, QUEUE_LIMIT)
