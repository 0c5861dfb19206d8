"""The guest's host name, which is also the pod's."""

from typing import Final

from kubevirt.api.instance import VirtualMachineInstance

LABEL_LIMIT: Final = 63


def hostname_of(vmi: VirtualMachineInstance) -> str:
    """As given, else the first label of the instance's name, cut to what DNS allows."""
    if vmi.spec.hostname:
        return vmi.spec.hostname
    return vmi.metadata.name.partition(".")[0][:LABEL_LIMIT].rstrip("-")
