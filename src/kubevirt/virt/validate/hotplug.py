"""Volumes of a running guest: those it was born with stay, claims may come and go."""

from collections.abc import Mapping
from typing import Final

from kubevirt.api.disks import Disk
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.volumes import Volume
from kubevirt.virt.validate.causes import Causes, invalid, plain

BUSES: Final = ("scsi", "virtio")


def hotplug_causes(
    old: VirtualMachineInstanceSpec, new: VirtualMachineInstanceSpec, field: str
) -> Causes:
    if old.volumes == new.volumes and old.domain.devices.disks == new.domain.devices.disks:
        return
    here = f"{field}.volumes"
    before, after = _permanent(old.volumes), _permanent(new.volumes)
    disks = {disk.name: disk for disk in new.domain.devices.disks}
    old_disks = {disk.name: disk for disk in old.domain.devices.disks}
    if len(before) != len(after):
        yield invalid(here, "Number of permanent volumes has changed")
    for name, volume in after.items():
        is_same = before.get(name) == volume and old_disks.get(name) == disks.get(name)
        if name in before and not is_same:
            yield invalid(here, f"permanent volume {plain(name)}, changed")
        elif name not in before:
            yield invalid(here, f"volume {plain(name)} is not a PVC or DataVolume")
    yield from _plugged(old, new, disks, field)


def _plugged(
    old: VirtualMachineInstanceSpec,
    new: VirtualMachineInstanceSpec,
    disks: Mapping[str, Disk],
    field: str,
) -> Causes:
    before = {volume.name: volume for volume in old.volumes if _is_plugged(volume)}
    for volume in new.volumes:
        if not _is_plugged(volume):
            continue
        name = volume.name
        if name in before and before[name] != volume:
            yield invalid(f"{field}.volumes", f"hotplug volume {plain(name)}, changed")
        disk = disks.get(name)
        if disk is None:
            yield invalid(f"{field}.domain.devices.disks", f"disk {plain(name)} does not exist")
        elif name not in before:
            yield from _bus(disk, f"{field}.domain.devices.disks")


def _bus(disk: Disk, here: str) -> Causes:
    for kind, target in (("disk", disk.disk), ("lun", disk.lun)):
        if target is not None and target.bus not in BUSES:
            yield invalid(
                here,
                f"{kind} for disk [{plain(disk.name)}] requires bus to be 'scsi' or 'virtio'. "
                f"[{plain(target.bus or '')}] is not permitted.",
            )


def _is_plugged(volume: Volume) -> bool:
    claim, data = volume.persistent_volume_claim, volume.data_volume
    return bool((claim and claim.hotpluggable) or (data and data.hotpluggable))


def _permanent(volumes: tuple[Volume, ...]) -> dict[str, Volume]:
    return {volume.name: volume for volume in volumes if not _is_plugged(volume)}
