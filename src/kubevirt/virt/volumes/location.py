"""Where the disk of a volume is found. The plan that makes it and the domain that opens it both ask
here, so they cannot disagree.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
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
    ServiceAccountVolumeSource,
    SysprepSource,
    Volume,
)
from kubevirt.virt.errors import SpecError, shown
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.source import kind_of, source_of

NO_CLOUD_FILE = "noCloud.iso"
CONFIG_DRIVE_FILE = "configdrive.iso"

_CONFIG_FOLDERS: Final[Mapping[type, str]] = {
    ConfigMapVolumeSource: "config-map-disks",
    SecretVolumeSource: "secret-disks",
    DownwardAPIVolumeSource: "downwardapi-disks",
    SysprepSource: "sysprep-disks",
}


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """A disk as the launcher opens it."""

    path: str
    format: str = "raw"
    is_block: bool = False


def location_of(
    vmi: VirtualMachineInstance,
    volume: Volume,
    layout: Layout,
    *,
    is_block: bool = False,
    hotplugged: bool = False,
) -> Location:
    """The disk of a volume; `is_block` and `hotplugged` matter for claims only."""
    name = volume.name
    match source_of(volume):
        case ContainerDiskSource() | EphemeralVolumeSource():
            return Location(path=layout.overlay(name), format="qcow2")
        case EmptyDiskSource():
            return Location(path=layout.empty_disk(name), format="qcow2")
        case PersistentVolumeClaimVolumeSource() | DataVolumeSource():
            return claim_location(name, layout, is_block=is_block, hotplugged=hotplugged)
        case HostDisk(path=path):
            return Location(path=layout.host_disk(name, path))
        case CloudInitNoCloudSource():
            return _cloud_init(vmi, layout, NO_CLOUD_FILE)
        case CloudInitConfigDriveSource():
            return _cloud_init(vmi, layout, CONFIG_DRIVE_FILE)
        case source if folder := _CONFIG_FOLDERS.get(type(source)):
            return Location(path=layout.config_iso(folder, name))
        case ServiceAccountVolumeSource():
            return Location(path=layout.service_account_iso)
        case DownwardMetricsVolumeSource():
            return Location(path=layout.downward_metrics_disk)
        case _:
            raise SpecError(
                f"volume {shown(name)} of kind {kind_of(volume)} cannot be shown as a disk; "
                f"remove the disk of that name"
            )


def claim_location(
    volume: str, layout: Layout, *, is_block: bool, hotplugged: bool = False
) -> Location:
    if is_block:
        path = layout.hotplugged_device(volume) if hotplugged else layout.claim_device(volume)
    else:
        path = layout.hotplugged_file(volume) if hotplugged else layout.claim_file(volume)
    return Location(path=path, is_block=is_block)


def block_volumes(vmi: VirtualMachineInstance) -> frozenset[str]:
    """Claims in block mode, as the instance's status tells."""
    return frozenset(
        status.name
        for status in vmi.status.volume_status
        if status.persistent_volume_claim_info
        and status.persistent_volume_claim_info.volume_mode == "Block"
    )


def is_disk(volume: Volume) -> bool:
    """Whether a guest can have the volume as a disk; the others are places in the launcher."""
    return volume.memory_dump is None and volume.container_path is None


def _cloud_init(vmi: VirtualMachineInstance, layout: Layout, file: str) -> Location:
    namespace = vmi.metadata.namespace or "default"
    return Location(path=layout.cloud_init_iso(namespace, vmi.metadata.name, file))
