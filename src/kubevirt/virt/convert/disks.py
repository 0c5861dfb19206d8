"""Disks, LUNs and CD-ROM drives."""

import re
from typing import Final

from kubevirt.api.disks import CDRomTarget, Disk, DiskTarget, LunTarget
from kubevirt.api.volumes import (
    DownwardMetricsVolumeSource,
    PersistentVolumeClaimVolumeSource,
    Volume,
)
from kubevirt.virt.convert.boot_order import boot_order
from kubevirt.virt.convert.disk_names import disk_names, index_of
from kubevirt.virt.convert.facts import VolumeFacts
from kubevirt.virt.convert.guest import Guest, alias, is_on
from kubevirt.virt.convert.iothreads import IoThreads, iothreads
from kubevirt.virt.convert.pci import pci_address
from kubevirt.virt.disk_device import DiskDevice, bus_of, device_of
from kubevirt.virt.domain import disk as xml
from kubevirt.virt.domain.address import Address
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.volumes.location import Location, block_volumes, location_of
from kubevirt.virt.volumes.source import source_of

CACHES: Final = ("none", "writethrough", "writeback")
IO_MODES: Final = ("native", "threads")
ERROR_POLICIES: Final = ("stop", "ignore", "report", "enospace")
TRAYS: Final = ("open", "closed")
FORMATS: Final = ("raw", "qcow2")
_SERIAL: Final = re.compile(r"[A-Za-z0-9_.+-]{1,256}")


def disks(guest: Guest) -> tuple[xml.Disk, ...]:
    names, threads = disk_names(guest), iothreads(guest)
    volumes = {volume.name: volume for volume in guest.vmi.spec.volumes}
    return tuple(
        _disk(guest, disk, volumes.get(disk.name), names[disk.name], threads)
        for disk in guest.devices.disks
    )


def _disk(
    guest: Guest, disk: Disk, volume: Volume | None, name: str, threads: IoThreads
) -> xml.Disk:
    device, bus = device_of(disk), bus_of(disk, guest.architecture)
    if volume is None:
        return _empty_drive(disk, name, bus)
    facts = _facts(guest, disk.name)
    location = _location(guest, volume, facts)
    backing = _backing(volume, facts)
    _check(disk, volume, bus, location)
    return xml.Disk(
        type="block" if location.is_block else "file",
        device=_kind(device),
        model=guest.virtio if bus == "virtio" else None,
        driver=_driver(guest, disk, bus, location, facts, threads),
        source=_source(guest, device, location),
        backing_store=backing,
        target=xml.DiskTarget(dev=name, bus=bus, tray=_tray(disk, device)),
        blockio=_block_io(disk, facts),
        readonly=_is_read_only(device, volume),
        shareable=bool(disk.shareable),
        serial=_serial(disk, device),
        boot=boot_order(disk.boot_order),
        alias=alias("disk", disk.name),
        address=_address(disk, device, bus, name),
    )


def _facts(guest: Guest, volume: str) -> VolumeFacts:
    found = guest.facts.volumes.get(volume)
    return found or VolumeFacts(is_block=volume in block_volumes(guest.vmi))


def _empty_drive(disk: Disk, name: str, bus: str) -> xml.Disk:
    """A drive without a disc: the only device that can do without a volume."""
    device = device_of(disk)
    if not isinstance(device, CDRomTarget):
        raise SpecError(
            f"disk {shown(disk.name)}: no matching volume with name {shown(disk.name)} found; "
            f"add it to volumes or remove the disk"
        )
    return xml.Disk(
        type="file",
        device="cdrom",
        driver=xml.DiskDriver(name="qemu", type="raw", error_policy=_error_policy(disk)),
        target=xml.DiskTarget(dev=name, bus=bus, tray=_tray(disk, device)),
        readonly=True,
        boot=boot_order(disk.boot_order),
        alias=alias("disk", disk.name),
        address=_address(disk, device, bus, name),
    )


def _location(guest: Guest, volume: Volume, facts: VolumeFacts) -> Location:
    usual = location_of(
        guest.vmi,
        volume,
        guest.facts.layout,
        is_block=facts.is_block,
        hotplugged=facts.hotplugged,
    )
    image_format = facts.format or usual.format
    if image_format not in FORMATS:
        raise UnsupportedError(
            f"volume {shown(volume.name)} holds an image of format {shown(image_format)}; "
            f"convert it to raw or qcow2"
        )
    return Location(path=facts.path or usual.path, format=image_format, is_block=usual.is_block)


def _backing(volume: Volume, facts: VolumeFacts) -> xml.BackingStore | None:
    if volume.container_disk is None and volume.ephemeral is None:
        return None
    if facts.backing is None:
        raise SpecError(
            f"no disk info provided for volume {shown(volume.name)}: the image below it was not "
            f"found; check the volume's image and path"
        )
    below = facts.backing
    source = xml.DiskSource(dev=below.path) if below.is_block else xml.DiskSource(file=below.path)
    return xml.BackingStore(
        type="block" if below.is_block else "file",
        format=xml.DiskFormat(type=below.format),
        source=source,
        # The chain ends here, whatever the image itself claims to stand on.
        backing_store=xml.BackingStore(),
    )


def _driver(
    guest: Guest,
    disk: Disk,
    bus: str,
    location: Location,
    facts: VolumeFacts,
    threads: IoThreads,
) -> xml.DiskDriver:
    device = device_of(disk)
    cache = _cache(disk, location, facts)
    is_virtio = bus == "virtio"
    frees_space = not isinstance(device, CDRomTarget) and facts.discard
    return xml.DiskDriver(
        name="qemu",
        type=location.format,
        cache=cache,
        error_policy=_error_policy(disk),
        io=_io(disk, cache, location, facts),
        discard="unmap" if frees_space else None,
        iothread=None if threads.maps_all else threads.of_disk.get(disk.name),
        queues=guest.topology.vcpus if is_virtio and guest.devices.block_multi_queue else None,
        iommu=guest.iommu if is_virtio else None,
        iothreads=threads.all if threads.maps_all and is_virtio else None,
    )


def _cache(disk: Disk, location: Location, facts: VolumeFacts) -> str:
    """Past the host's cache where storage allows, else through it at once: never losing a sync."""
    if disk.cache is not None and disk.cache not in CACHES:
        raise SpecError(
            f"disk {shown(disk.name)} has invalid value {shown(disk.cache)} as cache; "
            f"use one of {', '.join(CACHES)}"
        )
    is_direct = facts.direct_io and (facts.backing is None or facts.backing.direct_io)
    wanted = disk.cache or ("none" if disk.shareable else None)
    if disk.shareable and wanted != "none":
        raise SpecError(
            f"disk {shown(disk.name)}: a sharable disk requires cache = none got: {wanted}"
        )
    if wanted == "none" and not is_direct:
        raise UnsupportedError(
            f"disk {shown(disk.name)}: Unable to use 'none' cache mode, file system where "
            f"{location.path} is stored does not support direct I/O; use writethrough"
        )
    return wanted or ("none" if is_direct else "writethrough")


def _io(disk: Disk, cache: str, location: Location, facts: VolumeFacts) -> str | None:
    if disk.io is None:
        # Native I/O blocks while a sparse file grows, so only where nothing grows.
        is_solid = location.is_block or facts.preallocated
        return "native" if cache == "none" and is_solid else None
    if disk.io not in IO_MODES:
        raise SpecError(
            f"Disk IO mode for {shown(disk.name)} is not supported. "
            f"Supported modes are: native, threads."
        )
    if disk.io == "native" and cache != "none":
        raise SpecError(
            f"disk {shown(disk.name)}: native I/O goes past the host's cache, but the cache mode "
            f"is {cache}; use io threads, or cache none on storage with direct I/O"
        )
    return disk.io


def _error_policy(disk: Disk) -> str:
    policy = disk.error_policy or "stop"
    if policy not in ERROR_POLICIES:
        raise SpecError(
            f"disk {shown(disk.name)}: error policy {shown(policy)} not recognized; "
            f"use one of {', '.join(ERROR_POLICIES)}"
        )
    return policy


def _source(guest: Guest, device: DiskDevice, location: Location) -> xml.DiskSource:
    reservations = None
    if isinstance(device, LunTarget) and device.reservation:
        helper = xml.ReservationSource(
            type="unix", path=guest.facts.layout.reservation_socket, mode="client"
        )
        reservations = xml.Reservations(managed=False, source=helper)
    if location.is_block:
        return xml.DiskSource(dev=location.path, reservations=reservations)
    return xml.DiskSource(file=location.path, reservations=reservations)


def _check(disk: Disk, volume: Volume, bus: str, location: Location) -> None:
    device = device_of(disk)
    if isinstance(device, LunTarget) and not location.is_block:
        raise SpecError(
            f"device {shown(disk.name)} is of type lun. Not compatible with a file based disk; "
            f"use a claim in block mode or make it a disk"
        )
    is_read_only = isinstance(device, DiskTarget) and _is_read_only(device, volume)
    if is_read_only and bus == "sata":
        raise SpecError(
            f"disk {shown(disk.name)}: {bus} hard-disks do not support read-only. Use another bus."
        )


def _kind(device: DiskDevice) -> str:
    match device:
        case DiskTarget():
            return "disk"
        case LunTarget():
            return "lun"
        case CDRomTarget():
            return "cdrom"


def _is_read_only(device: DiskDevice, volume: Volume) -> bool:
    if isinstance(device, CDRomTarget):
        return is_on(device.readonly)
    match source_of(volume):
        case DownwardMetricsVolumeSource():
            return True
        case PersistentVolumeClaimVolumeSource(read_only=True):
            return True  # it is mounted so; QEMU could not open it for writing
        case _:
            return bool(device.readonly)


def _tray(disk: Disk, device: DiskDevice) -> str | None:
    if not isinstance(device, CDRomTarget):
        return None
    tray = device.tray or "closed"
    if tray not in TRAYS:
        raise SpecError(f"disk {shown(disk.name)} has the tray {shown(tray)}; use open or closed")
    return tray


def _serial(disk: Disk, device: DiskDevice) -> str | None:
    if not disk.serial or isinstance(device, LunTarget):
        return None  # a LUN shows the serial number of the device behind it
    if not _SERIAL.fullmatch(disk.serial):
        raise SpecError(
            f"the serial of disk {shown(disk.name)} must be made up of the following characters "
            f"[A-Za-z0-9_.+-], if specified, and at most 256 of them"
        )
    return disk.serial


def _block_io(disk: Disk, facts: VolumeFacts) -> xml.BlockIo | None:
    if disk.block_size is None:
        return None
    custom, match_volume = disk.block_size.custom, disk.block_size.match_volume
    if custom:
        return xml.BlockIo(
            logical_block_size=custom.logical,
            physical_block_size=custom.physical,
            discard_granularity=custom.discard_granularity,
        )
    if not match_volume or not is_on(match_volume.enabled):
        return None
    found = facts.block_sizes
    if found is None:
        raise UnsupportedError(
            f"disk {shown(disk.name)}: failed to configure disk with block size detection enabled: "
            f"the block sizes of its volume are not known; set blockSize.custom"
        )
    return xml.BlockIo(
        logical_block_size=found.logical,
        physical_block_size=found.physical,
        discard_granularity=found.discard_granularity,
    )


def _address(disk: Disk, device: DiskDevice, bus: str, name: str) -> Address | None:
    if bus == "scsi":
        unit = str(index_of(name))
        return Address(type="drive", controller="0", bus="0", target="0", unit=unit)
    text = device.pci_address if isinstance(device, DiskTarget) else None
    if not text:
        return None
    if bus != "virtio":
        raise SpecError(
            f"setting a pci address is not allowed for non-virtio bus types, "
            f"for disk {shown(disk.name)}; remove pciAddress or use virtio"
        )
    return pci_address(text, f"disk {shown(disk.name)}")
