"""Volumes: where the bytes of a disk come from."""

from typing import Annotated

from msgspec import field

from kubevirt.api.core.pod_volumes import DownwardAPIVolumeFile
from kubevirt.api.core.pod_volumes import PersistentVolumeClaimVolumeSource as PodClaimVolumeSource
from kubevirt.api.core.references import LocalObjectReference
from kubevirt.api.struct import Quantity, Struct, enum


class CloudInitConfigDriveSource(Struct, frozen=True, kw_only=True):
    """…"""

    network_data: str | None = None
    network_data_base64: str | None = None
    network_data_secret_ref: LocalObjectReference | None = None
    secret_ref: LocalObjectReference | None = None
    user_data: str | None = None
    user_data_base64: str | None = None


class CloudInitNoCloudSource(Struct, frozen=True, kw_only=True):
    """…"""

    network_data: str | None = None
    network_data_base64: str | None = None
    network_data_secret_ref: LocalObjectReference | None = None
    secret_ref: LocalObjectReference | None = None
    user_data: str | None = None
    user_data_base64: str | None = None


class ConfigMapVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    optional: bool | None = None
    volume_label: str | None = None


class ContainerDiskSource(Struct, frozen=True, kw_only=True):
    """…"""

    image: str
    image_pull_policy: Annotated[str | None, enum("Always", "IfNotPresent", "Never")] = None
    image_pull_secret: str | None = None
    path: str | None = None


class ContainerPathVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    path: str
    read_only: bool | None = None


class DataVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    hotpluggable: bool | None = None


class DownwardAPIVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    fields: tuple[DownwardAPIVolumeFile, ...] = ()
    volume_label: str | None = None


class DownwardMetricsVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""


class EmptyDiskSource(Struct, frozen=True, kw_only=True):
    """…"""

    capacity: Quantity


class EphemeralVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    persistent_volume_claim: PodClaimVolumeSource | None = None


class HostDisk(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    capacity: Quantity | None = None
    path: str
    shared: bool | None = None


class PersistentVolumeClaimVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    claim_name: str
    hotpluggable: bool | None = None
    read_only: bool | None = None


class HotplugVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    data_volume: DataVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None


class MemoryDumpVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    claim_name: str
    hotpluggable: bool | None = None
    read_only: bool | None = None


class SecretVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    optional: bool | None = None
    secret_name: str | None = None
    volume_label: str | None = None


class ServiceAccountVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    service_account_name: str | None = None


class SysprepSource(Struct, frozen=True, kw_only=True):
    """…"""

    config_map: LocalObjectReference | None = None
    secret: LocalObjectReference | None = None


class UtilityVolume(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    type: str | None = None
    claim_name: str
    read_only: bool | None = None


class Volume(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    cloud_init_config_drive: CloudInitConfigDriveSource | None = None
    cloud_init_no_cloud: CloudInitNoCloudSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    container_disk: ContainerDiskSource | None = None
    container_path: ContainerPathVolumeSource | None = None
    data_volume: DataVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(default=None, name="downwardAPI")
    downward_metrics: DownwardMetricsVolumeSource | None = None
    empty_disk: EmptyDiskSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    host_disk: HostDisk | None = None
    memory_dump: MemoryDumpVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    service_account: ServiceAccountVolumeSource | None = None
    sysprep: SysprepSource | None = None
