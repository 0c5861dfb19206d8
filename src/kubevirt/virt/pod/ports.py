"""Ports of the guest, which Services can name."""

from kubevirt.api.core.container import ContainerPort
from kubevirt.virt.pod.launch import Launch

DEFAULT_PROTOCOL = "TCP"


def ports(launch: Launch) -> tuple[ContainerPort, ...]:
    """Each number and protocol once: two interfaces may name the same."""
    found: dict[tuple[int, str], ContainerPort] = {}
    for interface in launch.devices.interfaces:
        for port in interface.ports:
            protocol = port.protocol or DEFAULT_PROTOCOL
            found.setdefault(
                (port.port, protocol),
                ContainerPort(name=port.name or None, container_port=port.port, protocol=protocol),
            )
    return tuple(found.values())
