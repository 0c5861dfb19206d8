"""Volumes: where the bytes come from."""

from collections.abc import Mapping
from typing import Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.volumes import ContainerDiskSource, HostDisk, SysprepSource, Volume
from kubevirt.virt.gates import HOST_DISK
from kubevirt.virt.validate.amounts import amount, unreadable
from kubevirt.virt.validate.causes import Causes, invalid, plain, required
from kubevirt.virt.validate.cloud_init import cloud_init_causes
from kubevirt.virt.validate.labels import label_trouble
from kubevirt.virt.validate.rules import Rules

HOST_DISK_TYPES: Final = ("DiskOrCreate", "Disk")
ONE_AT_MOST: Final = ("cloudInitNoCloud", "cloudInitConfigDrive")
SOURCES: Final[Mapping[str, str]] = {
    field.name: field.encode_name
    for field in msgspec.structs.fields(Volume)
    if field.name != "name"
}


def volume_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    here = f"{field}.volumes"
    names: dict[str, int] = {}
    counts: dict[str, int] = {}
    for index, volume in enumerate(spec.volumes):
        at = f"{here}[{index}]"
        if volume.name in names:
            yield invalid(
                f"{at}.name",
                f"{at}.name and {here}[{names[volume.name]}].name must not have the same Name.",
            )
        names.setdefault(volume.name, index)
        if trouble := label_trouble(volume.name):
            yield invalid(f"{at}.name", f"{at}.name '{plain(volume.name)}': {trouble}")
        kinds = [kind for name, kind in SOURCES.items() if getattr(volume, name) is not None]
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
        if len(kinds) != 1:
            yield invalid(at, f"{at} must have exactly one source type set")
            continue
        yield from _source(volume, at, rules)
    yield from _singles(counts, here)


def _singles(counts: Mapping[str, int], here: str) -> Causes:
    if counts.get("serviceAccount", 0) > 1:
        yield invalid(here, f"{here} must have max one serviceAccount volume set")
    if counts.get("downwardMetrics", 0) > 1:
        yield invalid(here, f"{here} must have max one downwardMetric volume set")
    if counts.get("memoryDump", 0) > 1:
        yield invalid(here, f"{here} must have max one memory dump volume set")
    if sum(counts.get(kind, 0) for kind in ONE_AT_MOST) > 1:
        yield invalid(here, f"{here} must have max one cloudInit volume set")


def _source(volume: Volume, at: str, rules: Rules) -> Causes:
    if cloud_init := volume.cloud_init_no_cloud:
        yield from cloud_init_causes(cloud_init, f"{at}.cloudInitNoCloud")
    if config_drive := volume.cloud_init_config_drive:
        yield from cloud_init_causes(config_drive, f"{at}.cloudInitConfigDrive")
    if volume.container_disk:
        yield from _container_disk(volume.container_disk, at)
    if volume.host_disk:
        yield from _host_disk(volume.host_disk, at, rules)
    if volume.sysprep:
        yield from _sysprep(volume.sysprep, f"{at}.sysprep")
    if volume.empty_disk:
        yield from _size(f"{at}.emptyDisk.capacity", volume.empty_disk.capacity)
    if volume.downward_metrics is not None and not rules.gate("DownwardMetrics"):
        yield invalid(
            at,
            "downwardMetrics disks are not allowed: DownwardMetrics feature gate is not enabled.",
        )
    yield from _references(volume, at)


def _references(volume: Volume, at: str) -> Causes:
    claim = volume.persistent_volume_claim
    if claim and not claim.claim_name:
        here = f"{at}.persistentVolumeClaim.claimName"
        yield required(here, f"{here} is a required field")
    if volume.data_volume and not volume.data_volume.name:
        yield required(f"{at}.dataVolume.name", "DataVolume 'name' must be set")
    if volume.config_map and not volume.config_map.name:
        yield invalid(f"{at}.configMap.name", f"{at}.configMap.name is a required field")
    if volume.secret and not volume.secret.secret_name:
        yield invalid(f"{at}.secret.secretName", f"{at}.secret.secretName is a required field")
    if volume.service_account and not volume.service_account.service_account_name:
        here = f"{at}.serviceAccount.serviceAccountName"
        yield invalid(here, f"{here} is a required field")
    base = volume.ephemeral
    if base and (
        base.persistent_volume_claim is None or not base.persistent_volume_claim.claim_name
    ):
        here = f"{at}.ephemeral.persistentVolumeClaim.claimName"
        yield required(here, f"{here} is a required field")


def _container_disk(disk: ContainerDiskSource, at: str) -> Causes:
    if not disk.image:
        yield required(f"{at}.containerDisk.image", f"{at}.containerDisk.image is a required field")
    path = disk.path or ""
    if path and not path.startswith("/"):
        yield invalid(f"{at}.containerDisk", f"{at}.containerDisk must be an absolute path")
    if ".." in path.split("/") or path == "/":
        yield invalid(
            f"{at}.containerDisk", f"{at}.containerDisk must not contain '..' and name a file"
        )


def _host_disk(disk: HostDisk, at: str, rules: Rules) -> Causes:
    here = f"{at}.hostDisk"
    if not rules.gate(HOST_DISK):
        yield invalid(at, "HostDisk feature gate is not enabled")
    if not disk.path:
        yield required(f"{here}.path", f"{here}.path is required for hostDisk volume")
    if disk.type not in HOST_DISK_TYPES:
        yield invalid(
            f"{here}.type",
            f"{here}.type has invalid value '{plain(disk.type)}', allowed are "
            f"'{HOST_DISK_TYPES[0]}' or '{HOST_DISK_TYPES[1]}'",
        )
    if disk.capacity is not None:
        yield from unreadable(f"{here}.capacity", disk.capacity)
    has_capacity = disk.capacity not in (None, 0, "", "0")
    if disk.type == "DiskOrCreate" and not has_capacity:
        yield invalid(
            f"{here}.capacity",
            f"{here}.capacity is required to create a disk.img; it is not set for type DiskOrCreate",
        )
    if disk.type == "Disk" and has_capacity:
        yield invalid(
            f"{here}.capacity",
            f"{here}.capacity is allowed to pass only with {here}.type equal to 'DiskOrCreate'",
        )


def _sysprep(source: SysprepSource, here: str) -> Causes:
    given = [each for each in (source.config_map, source.secret) if each is not None]
    if len(given) != 1 or not given[0].name:
        yield invalid(
            here, f"{here} must have either secret or configMap set with a name, not both"
        )


def _size(here: str, value: str | int) -> Causes:
    yield from unreadable(here, value)
    if (size := amount(value)) is not None and size.sign <= 0:
        yield invalid(here, f"{here} '{plain(value)}': must be greater than 0")
