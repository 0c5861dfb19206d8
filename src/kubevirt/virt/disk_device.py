"""A disk entry of a spec: hard disk, LUN or CD-ROM, and the bus it is on."""

from typing import Final

from kubevirt.api.disks import CDRomTarget, Disk, DiskTarget, LunTarget
from kubevirt.virt.architecture import Architecture
from kubevirt.virt.errors import SpecError, shown

BUSES: Final = ("virtio", "scsi", "sata", "usb")
CDROM_BUSES: Final = ("sata", "scsi", "usb")

DiskDevice = DiskTarget | LunTarget | CDRomTarget


def device_of(disk: Disk) -> DiskDevice:
    """How the guest sees the volume; a hard disk if nothing is said."""
    found = [each for each in (disk.disk, disk.lun, disk.cdrom) if each is not None]
    if len(found) > 1:
        raise SpecError(f"disk {shown(disk.name)} can only have a single target type defined")
    return found[0] if found else DiskTarget()


def bus_of(disk: Disk, architecture: Architecture) -> str:
    device = device_of(disk)
    bus = device.bus or architecture.disk_bus
    if bus == "ide":
        raise SpecError(f"disk {shown(disk.name)}: IDE bus is not supported; use sata")
    if bus not in BUSES:
        raise SpecError(
            f"disk {shown(disk.name)} is set with an unrecognized bus {shown(bus)}, "
            f"must be one of: {', '.join(BUSES)}"
        )
    if isinstance(device, CDRomTarget) and bus == "virtio" and architecture.disk_bus == "sata":
        raise SpecError(
            f"disk {shown(disk.name)}: Bus type {bus} is invalid for CD-ROM device; "
            f"use one of {', '.join(CDROM_BUSES)}"
        )
    return bus
