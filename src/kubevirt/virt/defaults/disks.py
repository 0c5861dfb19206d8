"""A disk for each volume, a target for each disk, a bus for each target."""

from msgspec.structs import replace

from kubevirt.api.disks import CDRomTarget, Disk, DiskTarget
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.architecture import Architecture
from kubevirt.virt.volumes.location import is_disk

Spec = VirtualMachineInstanceSpec


def with_disks(spec: Spec, architecture: Architecture) -> Spec:
    devices = spec.domain.devices
    shown = {disk.name for disk in devices.disks} | {each.name for each in devices.filesystems}
    missing = tuple(
        Disk(name=volume.name)
        for volume in spec.volumes
        if volume.name not in shown and is_disk(volume)
    )
    metrics = {volume.name for volume in spec.volumes if volume.downward_metrics is not None}
    disks = tuple(
        # The metrics' reader in the guest looks for a virtio disk.
        _with_target(disk, "virtio" if disk.name in metrics else architecture.disk_bus)
        for disk in (*devices.disks, *missing)
    )
    return replace(spec, domain=replace(spec.domain, devices=replace(devices, disks=disks)))


def with_pull_policies(spec: Spec) -> Spec:
    """As for containers: what has no fixed version is looked up each time."""
    volumes = tuple(
        replace(
            volume,
            container_disk=replace(
                disk, image_pull_policy=disk.image_pull_policy or pull_policy(disk.image)
            ),
        )
        if (disk := volume.container_disk)
        else volume
        for volume in spec.volumes
    )
    return replace(spec, volumes=volumes)


def pull_policy(image: str) -> str:
    is_floating = image.endswith(":latest") or not {":", "@"} & set(image)
    return "Always" if is_floating else "IfNotPresent"


def _with_target(disk: Disk, bus: str) -> Disk:
    if disk.cdrom is not None:
        return replace(disk, cdrom=_with_disc(disk.cdrom, bus))
    if disk.lun is not None:
        return replace(disk, lun=replace(disk.lun, bus=disk.lun.bus or bus))
    target = disk.disk or DiskTarget()
    return replace(disk, disk=replace(target, bus=target.bus or bus))


def _with_disc(cdrom: CDRomTarget, bus: str) -> CDRomTarget:
    return replace(
        cdrom,
        bus=cdrom.bus or bus,
        readonly=True if cdrom.readonly is None else cdrom.readonly,
        tray=cdrom.tray or "closed",
    )
