"""Volumes: where the bytes of a disk come from."""

from typing import Annotated, ClassVar

from msgspec import field

from kubevirt.api.core.pod_volumes import DownwardAPIVolumeFile
from kubevirt.api.core.pod_volumes import PersistentVolumeClaimVolumeSource as PodClaimVolumeSource
from kubevirt.api.core.references import LocalObjectReference
from kubevirt.api.struct import ATOMIC_MAP, Mark, Quantity, Struct, mark, rule


class CloudInitConfigDriveSource(Struct, frozen=True, kw_only=True):
    """cloud-init data on a disk labelled config-2 (OpenStack layout)."""

    network_data: str | None = None
    """Network configuration as text, at most 2048 bytes."""
    network_data_base64: str | None = None
    """Network configuration in base64."""
    network_data_secret_ref: LocalObjectReference | None = None
    """Secret with the network configuration under key networkdata."""
    secret_ref: LocalObjectReference | None = None
    """Secret with the user data under key userdata; for data above 2048 bytes."""
    user_data: str | None = None
    """User data as text, at most 2048 bytes."""
    user_data_base64: str | None = None
    """User data in base64."""


class CloudInitNoCloudSource(Struct, frozen=True, kw_only=True):
    """cloud-init data on a disk labelled cidata."""

    network_data: str | None = None
    """Network configuration as text, at most 2048 bytes."""
    network_data_base64: str | None = None
    """Network configuration in base64."""
    network_data_secret_ref: LocalObjectReference | None = None
    """Secret with the network configuration under key networkdata."""
    secret_ref: LocalObjectReference | None = None
    """Secret with the user data under key userdata; for data above 2048 bytes."""
    user_data: str | None = None
    """User data as text, at most 2048 bytes."""
    user_data_base64: str | None = None
    """User data in base64."""


class ConfigMapVolumeSource(Struct, frozen=True, kw_only=True):
    """ConfigMap as an ISO disk or a virtiofs share."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    name: Annotated[str | None, mark(default="")] = None
    """ConfigMap in this namespace."""
    optional: bool | None = None
    """Starts the guest even if the ConfigMap is missing."""
    volume_label: str | None = None
    """Label of the ISO, e.g. cidata or OEMDRV."""


class ContainerDiskSource(Struct, frozen=True, kw_only=True):
    """Disk image inside a container image; what the guest writes is lost when it stops."""

    image: str
    """Image reference."""
    image_pull_policy: str | None = None
    """When to pull the image; Always for the tag latest or none, otherwise IfNotPresent."""
    image_pull_secret: str | None = None
    """Secret in this namespace that lets the node pull from a private registry."""
    path: str | None = None
    """Path of the disk image; the single file in /disk if not set."""


class ContainerPathVolumeSource(Struct, frozen=True, kw_only=True):
    """Directory of the launcher container as a virtiofs share; gate ContainerPathVolumes."""

    path: Annotated[
        str,
        rule("self.startsWith('/')", "path must be absolute (start with '/')"),
        rule("!self.contains('..')", "path must not contain '..'"),
        mark(maxLength=4096),
    ]
    """Absolute path; must be one of the compute container's mounts."""
    read_only: Annotated[
        bool | None,
        rule("self == true", "readOnly must be true, write access is not supported"),
        mark(default=True),
    ] = None
    """Must stay true, the default."""


class DataVolumeSource(Struct, frozen=True, kw_only=True):
    """PVC that a DataVolume fills; the guest waits for it."""

    name: str
    """DataVolume in this namespace, and its PVC."""
    hotpluggable: bool | None = None
    """Marks a volume that can be plugged and unplugged while the guest runs."""


class DownwardAPIVolumeSource(Struct, frozen=True, kw_only=True):
    """Facts about the instance as files."""

    fields: tuple[DownwardAPIVolumeFile, ...] = ()
    """Files and the fields they show."""
    volume_label: str | None = None
    """Label of the ISO, e.g. cidata or OEMDRV."""


class DownwardMetricsVolumeSource(Struct, frozen=True, kw_only=True):
    """Small disk with host metrics in vhostmd's format; has no settings."""


class EmptyDiskSource(Struct, frozen=True, kw_only=True):
    """Scratch disk that is lost when the guest stops."""

    capacity: Quantity
    """Size; space is taken as the guest writes."""


class EphemeralVolumeSource(Struct, frozen=True, kw_only=True):
    """PVC read-only below a scratch layer; writes are lost when the guest stops."""

    persistent_volume_claim: PodClaimVolumeSource | None = None
    """PVC with the base image."""


class HostDisk(Struct, frozen=True, kw_only=True):
    """Image file on the node; gate HostDisk."""

    type: str
    """Disk for an existing file, DiskOrCreate to create it if missing."""
    capacity: Quantity | None = None
    """Size of a created file."""
    path: str
    """Path of the file on the node."""
    shared: bool | None = None
    """States that all nodes see the path, so that the guest can migrate."""


class PersistentVolumeClaimVolumeSource(Struct, frozen=True, kw_only=True):
    """PVC as the guest's disk: file disk.img, or the block device itself."""

    claim_name: str
    """PVC in this namespace."""
    hotpluggable: bool | None = None
    """Marks a volume that can be plugged and unplugged while the guest runs."""
    read_only: bool | None = None
    """Mounts the PVC without write access; false by default."""


class HotplugVolumeSource(Struct, frozen=True, kw_only=True):
    """Source of a volume that is plugged into a running guest; exactly one."""

    data_volume: DataVolumeSource | None = None
    """PVC filled by a DataVolume."""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    """Existing PVC."""


class MemoryDumpVolumeSource(Struct, frozen=True, kw_only=True):
    """PVC that receives memory dumps; added by virtctl memory-dump, not by hand."""

    claim_name: str
    """PVC in this namespace, larger than the guest's memory."""
    hotpluggable: bool | None = None
    """Set by KubeVirt, as the PVC is plugged in for the dump."""
    read_only: bool | None = None
    """Not useful here, since the dump is written."""


class SecretVolumeSource(Struct, frozen=True, kw_only=True):
    """Secret as an ISO disk or a virtiofs share."""

    optional: bool | None = None
    """Starts the guest even if the Secret is missing."""
    secret_name: str | None = None
    """Secret in this namespace."""
    volume_label: str | None = None
    """Label of the ISO, e.g. cidata or OEMDRV."""


class ServiceAccountVolumeSource(Struct, frozen=True, kw_only=True):
    """Token of a service account for the guest; at most one per instance."""

    service_account_name: str | None = None
    """ServiceAccount in this namespace."""


class SysprepSource(Struct, frozen=True, kw_only=True):
    """Windows answer file autounattend.xml on a CD-ROM; one source."""

    config_map: LocalObjectReference | None = None
    """ConfigMap with the answer file."""
    secret: LocalObjectReference | None = None
    """Secret with the answer file."""


class UtilityVolume(Struct, frozen=True, kw_only=True):
    """PVC mounted in the launcher only, invisible to the guest."""

    name: str
    """Name, unique among volumes and utility volumes."""
    type: str | None = None
    """Purpose: MemoryDump or Backup."""
    claim_name: str
    """PVC in this namespace."""
    read_only: bool | None = None
    """Mounts the PVC without write access; false by default."""


class Volume(Struct, frozen=True, kw_only=True):
    """Named storage that a disk or filesystem of the guest shows; exactly one source."""

    name: str
    """Unique name, a DNS label."""
    cloud_init_config_drive: CloudInitConfigDriveSource | None = None
    """cloud-init data in OpenStack's layout."""
    cloud_init_no_cloud: CloudInitNoCloudSource | None = None
    """cloud-init data in NoCloud's layout."""
    config_map: ConfigMapVolumeSource | None = None
    """Content of a ConfigMap."""
    container_disk: ContainerDiskSource | None = None
    """Disk image inside a container image; not persistent."""
    container_path: ContainerPathVolumeSource | None = None
    """Directory of the launcher container."""
    data_volume: DataVolumeSource | None = None
    """PVC filled by a DataVolume."""
    downward_api: DownwardAPIVolumeSource | None = field(default=None, name="downwardAPI")
    """Facts about the instance."""
    downward_metrics: DownwardMetricsVolumeSource | None = None
    """Host metrics; gate DownwardMetrics."""
    empty_disk: EmptyDiskSource | None = None
    """Scratch disk."""
    ephemeral: EphemeralVolumeSource | None = None
    """PVC with throw-away writes."""
    host_disk: HostDisk | None = None
    """Image file on the node."""
    memory_dump: MemoryDumpVolumeSource | None = None
    """PVC for memory dumps; managed by KubeVirt."""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    """Existing PVC."""
    secret: SecretVolumeSource | None = None
    """Content of a Secret."""
    service_account: ServiceAccountVolumeSource | None = None
    """Token of a service account."""
    sysprep: SysprepSource | None = None
    """Answer file for Windows set-up."""
