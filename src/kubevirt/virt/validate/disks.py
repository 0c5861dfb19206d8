"""Disks: how the guest sees its volumes."""

import re
from typing import Final

from kubevirt.api.disks import BlockSize, CustomBlockSize, Disk
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.volumes import Volume
from kubevirt.virt.validate.causes import (
    Causes,
    invalid,
    not_supported,
    plain,
)
from kubevirt.virt.validate.rules import Rules

BUSES: Final = ("virtio", "scsi", "sata", "usb")
CACHES: Final = ("none", "writethrough", "writeback")
IO_MODES: Final = ("native", "threads")
ERROR_POLICIES: Final = ("stop", "ignore", "report", "enospace")
TRAYS: Final = ("open", "closed")
SERIAL_LIMIT: Final = 256
NAME_LIMIT: Final = 63
TARGETS: Final = ("disk", "lun", "cdrom")
LARGEST_BLOCK: Final = 2 * 1024**2
SMALLEST_BLOCK: Final = 512
_SERIAL: Final = re.compile(r"[A-Za-z0-9_.+-]*")
_PCI: Final = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[01][0-9a-fA-F]\.[0-7]")
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def disk_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    here = f"{field}.domain.devices.disks"
    volumes = {volume.name: volume for volume in spec.volumes}
    seen: dict[str, int] = {}
    for index, disk in enumerate(spec.domain.devices.disks):
        at = f"{here}[{index}]"
        if disk.name in seen:
            yield invalid(
                f"{at}.name", f"{at} and {here}[{seen[disk.name]}] must not have the same Name."
            )
        seen.setdefault(disk.name, index)
        if disk.name not in volumes:
            yield invalid(f"{at}.name", f"{at}.name '{plain(disk.name)}' not found.")
        else:
            yield from _with_volume(disk, volumes[disk.name], at)
        yield from _disk(disk, at)


def _disk(disk: Disk, at: str) -> Causes:
    yield from _name(disk.name, at)
    kinds = [kind for kind in TARGETS if getattr(disk, kind) is not None]
    if len(kinds) > 1:
        yield invalid(at, f"{at} can only have a single target type defined")
    for kind in kinds:
        yield from _bus(disk, kind, at)
    yield from _serial(disk.serial, at)
    if disk.cache and disk.cache not in CACHES:
        yield invalid(f"{at}.cache", f"{at}.cache has invalid value {plain(disk.cache)}")
    if disk.io and disk.io not in IO_MODES:
        yield not_supported(
            f"{at}.io",
            f"Disk IO mode for {at}.io is not supported. Supported modes are: native, threads.",
        )
    if disk.error_policy and disk.error_policy not in ERROR_POLICIES:
        yield invalid(
            f"{at}.errorPolicy",
            f'{at}.errorPolicy has invalid value "{plain(disk.error_policy)}". Should be one of '
            f"'{', '.join(ERROR_POLICIES)}'",
        )
    if disk.shareable and disk.cache not in (None, "", "none"):
        yield invalid(
            f"{at}.cache", f"a sharable disk requires cache = none got: {plain(disk.cache)}"
        )
    if disk.block_size:
        yield from _block_size(disk.block_size, f"{at}.blockSize")


def _with_volume(disk: Disk, volume: Volume, at: str) -> Causes:
    claim = volume.persistent_volume_claim
    if disk.lun is not None and claim is None and volume.data_volume is None:
        yield invalid(
            f"{at}.lun", f"{at}.lun can only be mapped to a PersistentVolumeClaim volume."
        )
    if claim and claim.read_only and disk.disk is not None and disk.disk.bus == "sata":
        # The user did not say so of the disk, but a claim that is read-only makes it one.
        yield invalid(f"{at}.disk.bus", "sata hard-disks do not support read-only.")


def _name(name: str, at: str) -> Causes:
    """A volume's name is a DNS label, and the disk carries it; paths and aliases are made of it."""
    if not _NAME.fullmatch(name) or len(name) > NAME_LIMIT:
        yield invalid(
            f"{at}.name",
            f"{at}.name '{plain(name)}' is no name of a disk: use at most {NAME_LIMIT} letters, "
            f"digits, dashes, dots and underscores, a letter or digit first and last",
        )


def _bus(disk: Disk, kind: str, at: str) -> Causes:
    target = getattr(disk, kind)
    bus, here = target.bus or "", f"{at}.{kind}.bus"
    if bus == "ide":
        yield invalid(here, "IDE bus is not supported")
    elif bus == "virtio" and kind == "cdrom":
        yield invalid(here, f"Bus type {bus} is invalid for CD-ROM device")
    elif bus and bus not in BUSES:
        buses = " ".join(BUSES)
        yield invalid(
            here, f"{at} is set with an unrecognized bus {plain(bus)}, must be one of: [{buses}]"
        )
    if kind == "disk" and target.readonly and bus == "sata":
        yield invalid(here, f"{bus} hard-disks do not support read-only.")
    if disk.dedicated_io_thread and bus in ("sata", "usb"):
        yield not_supported(here, f"IOThreads are not supported for disks on a {bus} bus")
    if kind == "cdrom" and target.tray and target.tray not in TRAYS:
        yield invalid(
            f"{at}.cdrom.tray",
            f"{at}.cdrom.tray has invalid value '{plain(target.tray)}', allowed are 'open' or "
            f"'closed'",
        )
    if kind == "disk" and target.pci_address:
        yield from _pci_address(disk, at)


def _pci_address(disk: Disk, at: str) -> Causes:
    target = disk.disk
    if target is None or target.pci_address is None:
        return
    here = f"{at}.disk.pciAddress"
    if target.bus and target.bus != "virtio":
        yield invalid(
            here,
            f"disk {plain(disk.name)} - setting a PCI address is only possible with bus type virtio.",
        )
    if not _PCI.fullmatch(target.pci_address):
        yield invalid(
            here,
            f"disk {plain(disk.name)} has malformed PCI address ({plain(target.pci_address)}).",
        )


def _serial(serial: str | None, at: str) -> Causes:
    if not serial:
        return
    here = f"{at}.serial"
    if len(serial) > SERIAL_LIMIT:
        yield invalid(
            here, f"{here} must be less than or equal to {SERIAL_LIMIT} in length, if specified"
        )
    if not _SERIAL.fullmatch(serial):
        yield invalid(
            here,
            f"{here} must be made up of the following characters [A-Za-z0-9_.+-], if specified",
        )


def _block_size(block_size: BlockSize, here: str) -> Causes:
    if block_size.custom is not None and block_size.match_volume is not None:
        yield invalid(here, "Block size matching can't be enabled together with a custom value")
    if block_size.custom is not None:
        yield from _custom(block_size.custom, f"{here}.custom")


def _custom(sizes: CustomBlockSize, here: str) -> Causes:
    logical, physical = sizes.logical or 0, sizes.physical or 0
    for name, size in (("logical", logical), ("physical", physical)):
        if not SMALLEST_BLOCK <= size <= LARGEST_BLOCK:
            yield invalid(
                f"{here}.{name}",
                f"Provided size of {size} is not between the allowed range of {SMALLEST_BLOCK} and "
                f"{LARGEST_BLOCK}",
            )
        elif size & (size - 1):
            yield invalid(
                f"{here}.{name}", f"Provided size of {size} is not a power of 2 as required"
            )
    if logical > physical:
        yield invalid(
            f"{here}.logical",
            f"Logical size {logical} must be the same or less than the physical size of {physical}",
        )
    granularity = sizes.discard_granularity or 0
    if granularity < 0 or (granularity and logical > 0 and granularity % logical):
        yield invalid(
            f"{here}.discardGranularity",
            f"Discard granularity {granularity} must be a multiple of the logical size of {logical}",
        )
