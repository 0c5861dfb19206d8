"""Controllers: those the devices need, and those that keep libvirt from adding its own."""

from kubevirt.virt.annotations import DISABLE_PCI_HOLE_64
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.convert.iothreads import iothreads
from kubevirt.virt.disk_device import bus_of
from kubevirt.virt.domain.controller import Controller, ControllerDriver, PciHole64
from kubevirt.virt.domain.iothreads import ThreadMap


def controllers(guest: Guest) -> tuple[Controller, ...]:
    found = [_usb(guest), _scsi(guest), _virtio_serial(guest), _pci_root(guest)]
    return tuple(each for each in found if each is not None)


def _usb(guest: Guest) -> Controller:
    """Model none costs nothing; an unnamed one would be added with a slot and an interrupt."""
    model = "qemu-xhci" if _needs_usb(guest) else "none"
    return Controller(type="usb", index=0, model=model)


def _needs_usb(guest: Guest) -> bool:
    devices, facts = guest.devices, guest.facts
    return (
        guest.architecture.usb_always
        or devices.client_passthrough is not None
        or any((each.bus or "usb") == "usb" for each in devices.inputs)
        or any(bus_of(disk, guest.architecture) == "usb" for disk in devices.disks)
        or any(
            (found := facts.host_devices.get(each.name)) is not None and found.kind == "usb"
            for each in devices.host_devices
        )
    )


def _scsi(guest: Guest) -> Controller | None:
    """Also without a SCSI disk, so that one can be plugged in later."""
    has_disk = any(bus_of(disk, guest.architecture) == "scsi" for disk in guest.devices.disks)
    if guest.devices.disable_hotplug and not has_disk:
        return None
    model = guest.virtio if guest.architecture.pci else "virtio-scsi"
    return Controller(type="scsi", index=0, model=model, driver=_scsi_driver(guest, has_disk))


def _scsi_driver(guest: Guest, has_disk: bool) -> ControllerDriver | None:  # noqa: FBT001
    threads = iothreads(guest)
    if not has_disk or not threads.count:
        return ControllerDriver(iommu=True) if guest.iommu else None
    queues = guest.topology.vcpus
    share = threads.all.threads[:queues]
    maps = threads.maps_all and len(share) > 1
    return ControllerDriver(
        queues=queues,
        iothread=None if maps else 1,
        iommu=guest.iommu,
        iothreads=ThreadMap(threads=share) if maps else None,
    )


def _virtio_serial(guest: Guest) -> Controller:
    """The guest agent's channel is on it."""
    driver = ControllerDriver(iommu=True) if guest.iommu else None
    return Controller(type="virtio-serial", index=0, model=guest.virtio, driver=driver)


def _pci_root(guest: Guest) -> Controller | None:
    wanted = guest.vmi.metadata.annotations.get(DISABLE_PCI_HOLE_64, "").lower() == "true"
    if not wanted or guest.architecture.name != "amd64":
        return None
    return Controller(type="pci", index=0, model="pcie-root", pcihole64=PciHole64(size=0))
