"""Volumes of the instance, each mounted where the launcher looks for it (`virt.layout`).

What needs no volume of the pod is made by the launcher in folders of its own: scratch disks, overlays,
cloud-init from the manifest itself.
"""

from pathlib import PurePosixPath

from kubevirt.api import volumes as api
from kubevirt.api.core.container import VolumeDevice
from kubevirt.api.core.pod_volumes import (
    ConfigMapVolumeSource,
    DownwardAPIVolumeSource,
    PersistentVolumeClaimVolumeSource,
    SecretVolumeSource,
    Volume,
)
from kubevirt.api.core.storage import HostPathVolumeSource
from kubevirt.api.struct import Struct
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.pod import folders, names
from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.pod.storage import Storage, mounted
from kubevirt.virt.volumes.folders import secrets_of
from kubevirt.virt.volumes.source import source_of


def volumes(launch: Launch) -> Storage:
    _check_names(launch)
    return Storage.together(_storage(launch, volume) for volume in launch.spec.volumes)


def _check_names(launch: Launch) -> None:
    seen = set(folders.OURS)
    for volume in launch.spec.volumes:
        name = names.label("volume", volume.name)
        if name in seen:
            raise SpecError(
                f"the volume name {shown(name)} is taken, by another volume or by the launcher's "
                f"pod itself; choose another"
            )
        seen.add(name)


def _storage(launch: Launch, volume: api.Volume) -> Storage:
    name = volume.name
    match source_of(volume):
        case api.PersistentVolumeClaimVolumeSource(claim_name=claim, read_only=read_only):
            return _claim(launch, name, claim, read_only=bool(read_only))
        case api.DataVolumeSource(name=claim):
            return _claim(launch, name, claim)
        case api.EphemeralVolumeSource(persistent_volume_claim=below):
            if below is None:
                raise SpecError(f"volume {shown(name)} is ephemeral above no claim; name one")
            return _claim(launch, name, below.claim_name, read_only=True)
        case api.HostDisk(path=path):
            return _host_disk(launch, name, path)
        case source:
            return _content(launch, name, source)


def _content(launch: Launch, name: str, source: Struct) -> Storage:
    """Objects of which the launcher makes an image."""
    layout = launch.layout
    match source:
        case api.ConfigMapVolumeSource(name=object_name, optional=optional):
            config_map = ConfigMapVolumeSource(name=object_name, optional=optional)
            return mounted(Volume(name=name, config_map=config_map), layout.config_map(name))
        case api.SecretVolumeSource(secret_name=object_name, optional=optional):
            return _secret(name, object_name, layout.secret(name), optional=optional)
        case api.SysprepSource() as sysprep:
            return _sysprep(launch, name, sysprep)
        case api.DownwardAPIVolumeSource(fields=fields):
            facts = DownwardAPIVolumeSource(items=fields)
            return mounted(Volume(name=name, downward_api=facts), layout.downward_api(name))
        case api.CloudInitNoCloudSource() | api.CloudInitConfigDriveSource() as cloud_init:
            return _cloud_init(launch, name, cloud_init)
        case _:
            return Storage()


def _claim(launch: Launch, name: str, claim: str, *, read_only: bool = False) -> Storage:
    source = PersistentVolumeClaimVolumeSource(claim_name=claim, read_only=read_only or None)
    volume = Volume(name=name, persistent_volume_claim=source)
    if name in launch.block_volumes:
        device = VolumeDevice(name=name, device_path=launch.layout.claim_device(name))
        return Storage(volumes=(volume,), devices=(device,))
    folder = str(PurePosixPath(launch.layout.claim_file(name)).parent)
    return mounted(volume, folder, read_only=read_only)


def _host_disk(launch: Launch, name: str, path: str) -> Storage:
    """The folder of the file: one that is made must have a place to lie in."""
    if not launch.config.host_disks:
        raise UnsupportedError("HostDisk feature gate is not enabled", reason="FeatureGateDisabled")
    file = PurePosixPath(path)
    if not file.is_absolute() or ".." in file.parts:
        raise SpecError(f"hostDisk.path of volume {shown(name)} must be absolute, without '..'")
    source = HostPathVolumeSource(path=str(file.parent), type="DirectoryOrCreate")
    inside = PurePosixPath(launch.layout.host_disk(name, path)).parent
    return mounted(Volume(name=name, host_path=source), str(inside))


def _secret(name: str, secret: str | None, path: str, *, optional: bool | None = None) -> Storage:
    source = SecretVolumeSource(secret_name=secret, optional=optional)
    return mounted(Volume(name=name, secret=source), path)


def _sysprep(launch: Launch, name: str, sysprep: api.SysprepSource) -> Storage:
    path = launch.layout.sysprep(name)
    match sysprep:
        case api.SysprepSource(config_map=config_map, secret=None) if config_map:
            source = ConfigMapVolumeSource(name=config_map.name)
            return mounted(Volume(name=name, config_map=source), path)
        case api.SysprepSource(config_map=None, secret=secret) if secret:
            return _secret(name, secret.name, path)
        case _:
            raise SpecError(f"sysprep of volume {shown(name)} takes either a configMap or a secret")


def _cloud_init(
    launch: Launch, name: str, source: api.CloudInitNoCloudSource | api.CloudInitConfigDriveSource
) -> Storage:
    """User data and network data may lie in two Secrets, each with keys that are not meant."""
    secret, network = secrets_of(source)
    parts = []
    if secret:
        parts.append(_secret(name, secret, launch.layout.secret(name)))
    if network:
        other = names.fitting(f"{name}-ndata")
        parts.append(_secret(other, network, launch.layout.network_data(name)))
    return Storage.together(parts)
