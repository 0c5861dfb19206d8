"""Architectures of guests, and what differs between them: a table instead of branches."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from kubevirt.virt.errors import UnsupportedError, shown


class Architecture(msgspec.Struct, frozen=True, kw_only=True):
    """What a guest of one architecture has, and what it gets when its manifest does not say."""

    name: str
    """As Kubernetes spells it."""
    qemu: str
    """As QEMU and libvirt spell it."""
    machine_type: str
    disk_bus: str
    cpu_model: str
    video: str
    panic_model: str | None = None
    watchdog_model: str | None = None
    smbios: bool = True
    acpi: bool = True
    pci: bool = True
    """Has PCI, and so option ROMs and the three flavours of virtio."""
    vmport: bool = False
    usb_always: bool = False
    """Its keyboard is a USB device."""
    keyboard_bus: str | None = None
    """Where a keyboard must be added for the screen to be of use."""
    cpu_hotplug: bool = True
    memory_hotplug: bool = False
    mpx_trouble: bool = False
    """libvirt asks named CPU models for mpx, which no current processor has."""

    def virtio(self, *, transitional: bool) -> str:
        """Model of a virtio device; transitional for guests older than virtio 1.0."""
        if not self.pci:
            return "virtio"
        return "virtio-transitional" if transitional else "virtio-non-transitional"


AMD64: Final = Architecture(
    name="amd64",
    qemu="x86_64",
    machine_type="q35",
    disk_bus="sata",
    cpu_model="host-model",
    video="vga",
    panic_model="isa",
    watchdog_model="i6300esb",
    vmport=True,
    memory_hotplug=True,
    mpx_trouble=True,
)
ARM64: Final = Architecture(
    name="arm64",
    qemu="aarch64",
    machine_type="virt",
    disk_bus="virtio",
    cpu_model="host-passthrough",
    video="virtio",
    usb_always=True,
    keyboard_bus="usb",
    cpu_hotplug=False,
)
S390X: Final = Architecture(
    name="s390x",
    qemu="s390x",
    machine_type="s390-ccw-virtio",
    disk_bus="virtio",
    cpu_model="host-model",
    video="virtio",
    watchdog_model="diag288",
    smbios=False,
    acpi=False,
    pci=False,
    keyboard_bus="virtio",
)

ARCHITECTURES: Final[Mapping[str, Architecture]] = MappingProxyType(
    {each.name: each for each in (AMD64, ARM64, S390X)}
)


def architecture_of(name: str) -> Architecture:
    if name not in ARCHITECTURES:
        raise UnsupportedError(
            f"unsupported architecture: {shown(name)}; use one of {', '.join(ARCHITECTURES)}"
        )
    return ARCHITECTURES[name]
