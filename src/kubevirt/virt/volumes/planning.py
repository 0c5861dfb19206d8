"""From a spec to the plans of its volumes."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.struct import NO_ENTRIES
from kubevirt.api.volumes import (
    CloudInitConfigDriveSource,
    CloudInitNoCloudSource,
    ConfigMapVolumeSource,
    ContainerDiskSource,
    DataVolumeSource,
    DownwardAPIVolumeSource,
    DownwardMetricsVolumeSource,
    EmptyDiskSource,
    EphemeralVolumeSource,
    HostDisk,
    PersistentVolumeClaimVolumeSource,
    SecretVolumeSource,
    SysprepSource,
    Volume,
)
from kubevirt.base.quantity import Quantity
from kubevirt.virt.errors import SpecError, shown
from kubevirt.virt.layout import Layout
from kubevirt.virt.memory import whole_bytes
from kubevirt.virt.volumes import cloud_init
from kubevirt.virt.volumes.contents import (
    DEFAULT_LABEL,
    SYSPREP_LABEL,
    answer_files,
    checked_files,
    label_of,
)
from kubevirt.virt.volumes.location import (
    block_volumes,
    claim_location,
    is_disk,
    location_of,
)
from kubevirt.virt.volumes.plan import (
    BlankDisk,
    ExistingDisk,
    HostImage,
    IsoImage,
    MetricsDisk,
    Overlay,
    VolumePlan,
)
from kubevirt.virt.volumes.source import kind_of, source_of

CREATE = "DiskOrCreate"
HOST_DISK_TYPES = ("Disk", CREATE)


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What the host side has read: files by name."""

    volumes: Mapping[str, Mapping[str, bytes]] = NO_ENTRIES
    """Of mounted ConfigMaps, Secrets …, by volume; see `folders.py`."""
    credentials: Mapping[str, Mapping[str, bytes]] = NO_ENTRIES
    """Of the Secrets that access credentials name."""
    devices: tuple[cloud_init.TaggedDevice, ...] = ()
    """Tagged devices for the config drive."""
    images: Mapping[str, str] = NO_ENTRIES
    """Paths of the images in container disks, by volume, where no helper has put them in place."""


def plan_volumes(
    vmi: VirtualMachineInstance,
    layout: Layout,
    contents: Contents | None = None,
    blocks: frozenset[str] | None = None,
) -> tuple[VolumePlan, ...]:
    """One plan for each volume that is a disk. `blocks` overrides what the status says."""
    blocks = block_volumes(vmi) if blocks is None else blocks
    return tuple(
        _Case(vmi, layout, contents or Contents(), index, volume, volume.name in blocks).plan()
        for index, volume in enumerate(vmi.spec.volumes)
        if is_disk(volume)
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """One volume and all that its plan can depend on."""

    vmi: VirtualMachineInstance
    layout: Layout
    contents: Contents
    index: int
    volume: Volume
    is_block: bool

    @property
    def name(self) -> str:
        return self.volume.name

    @property
    def path(self) -> str:
        return location_of(self.vmi, self.volume, self.layout, is_block=self.is_block).path

    @property
    def files(self) -> Mapping[str, bytes]:
        return self.contents.volumes.get(self.name, {})

    def plan(self) -> VolumePlan:
        match source_of(self.volume):
            case ContainerDiskSource():
                usual = self.layout.container_disk(self.index)
                image = self.contents.images.get(self.name, usual)
                return Overlay(volume=self.name, path=self.path, backing=image)
            case EphemeralVolumeSource():
                return self.above_claim()
            case PersistentVolumeClaimVolumeSource(read_only=read_only):
                return self.existing(read_only=bool(read_only))
            case DataVolumeSource():
                return self.existing(read_only=False)
            case EmptyDiskSource(capacity=capacity):
                size = whole_bytes(
                    Quantity.from_json(capacity), f"capacity of volume {shown(self.name)}"
                )
                return BlankDisk(volume=self.name, path=self.path, size_bytes=size)
            case HostDisk() as disk:
                return self.host_image(disk)
            case DownwardMetricsVolumeSource():
                return MetricsDisk(volume=self.name, path=self.path)
            case _:
                return self.image()

    def image(self) -> IsoImage:
        match source_of(self.volume):
            case CloudInitNoCloudSource() as source:
                return self.no_cloud(source)
            case CloudInitConfigDriveSource() as source:
                return self.config_drive(source)
            case SysprepSource():
                return self.iso(SYSPREP_LABEL, answer_files(self.name, self.files))
            case ConfigMapVolumeSource() | SecretVolumeSource() | DownwardAPIVolumeSource() as it:
                label = label_of(self.name, it.volume_label)
            case _:
                label = DEFAULT_LABEL
        return self.iso(label, checked_files(self.name, self.files))

    def above_claim(self) -> Overlay:
        below = claim_location(self.name, self.layout, is_block=self.is_block)
        return Overlay(
            volume=self.name,
            path=self.path,
            backing=below.path,
            backing_format=below.format,
            backing_is_block=below.is_block,
        )

    def existing(self, *, read_only: bool) -> ExistingDisk:
        return ExistingDisk(
            volume=self.name, path=self.path, is_block=self.is_block, read_only=read_only
        )

    def host_image(self, disk: HostDisk) -> HostImage:
        if disk.type not in HOST_DISK_TYPES:
            raise SpecError(
                f"hostDisk.type of volume {shown(self.name)} has invalid value "
                f"{shown(disk.type)}, allowed are '{HOST_DISK_TYPES[0]}' or '{HOST_DISK_TYPES[1]}'"
            )
        size = (
            whole_bytes(Quantity.from_json(disk.capacity), f"capacity of volume {shown(self.name)}")
            if disk.capacity
            else None
        )
        if disk.type == CREATE and size is None:
            raise SpecError(
                f"hostDisk of volume {shown(self.name)} is to be created but has no size; "
                f"set its capacity"
            )
        return HostImage(
            volume=self.name,
            path=self.path,
            create=disk.type == CREATE,
            size_bytes=size,
            shared=bool(disk.shared),
        )

    def no_cloud(self, source: CloudInitNoCloudSource) -> IsoImage:
        data = cloud_init.data_of(source, self.files, self.field)
        keys = cloud_init.public_keys(self.vmi, "no_cloud", self.contents.credentials)
        return self.iso(cloud_init.NO_CLOUD_LABEL, cloud_init.no_cloud_files(self.vmi, data, keys))

    def config_drive(self, source: CloudInitConfigDriveSource) -> IsoImage:
        data = cloud_init.data_of(source, self.files, self.field)
        keys = cloud_init.public_keys(self.vmi, "config_drive", self.contents.credentials)
        devices = self.contents.devices
        return self.iso(
            cloud_init.CONFIG_DRIVE_LABEL,
            cloud_init.config_drive_files(self.vmi, data, keys, devices),
        )

    def iso(self, label: str, files: Mapping[str, bytes]) -> IsoImage:
        return IsoImage(volume=self.name, path=self.path, label=label, files=files)

    @property
    def field(self) -> str:
        return f"spec.volumes[{self.index}].{kind_of(self.volume)}"
