"""Folders that the host side must read before volumes can be planned: mounted Secrets and their like."""

from typing import Final

import msgspec

from kubevirt.api.credentials import AccessCredential
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.volumes import (
    CloudInitConfigDriveSource,
    CloudInitNoCloudSource,
    ConfigMapVolumeSource,
    DownwardAPIVolumeSource,
    SecretVolumeSource,
    ServiceAccountVolumeSource,
    SysprepSource,
    Volume,
)
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.source import source_of

NETWORK_KEYS: Final = ("networkdata", "networkData")
"""Of a Secret for cloud-init: either spelling."""


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """Read its plain files, not those that begin with two dots: Kubernetes' own."""

    path: str
    volume: str | None = None
    """Goes to `Contents.volumes` under this name."""
    credential: str | None = None
    """Goes to `Contents.credentials` under this Secret's name."""
    optional: bool = False
    """A missing folder is an empty one."""
    only: tuple[str, ...] = ()
    """Of its files none but these, and these of no other folder of the volume; all if empty."""


def folders_to_read(vmi: VirtualMachineInstance, layout: Layout) -> tuple[Folder, ...]:
    volumes = [
        folder
        for volume in vmi.spec.volumes
        for folder in (_folder(volume, layout), _network_data(volume, layout))
    ]
    secrets = dict.fromkeys(filter(None, map(_secret_name, vmi.spec.access_credentials)))
    credentials = [
        Folder(path=layout.access_credential(secret), credential=secret) for secret in secrets
    ]
    return (*filter(None, volumes), *credentials)


def _folder(volume: Volume, layout: Layout) -> Folder | None:
    name = volume.name
    match source_of(volume):
        case ConfigMapVolumeSource(optional=optional):
            return Folder(path=layout.config_map(name), volume=name, optional=bool(optional))
        case SecretVolumeSource(optional=optional):
            return Folder(path=layout.secret(name), volume=name, optional=bool(optional))
        case DownwardAPIVolumeSource():
            return Folder(path=layout.downward_api(name), volume=name)
        case ServiceAccountVolumeSource():
            return Folder(path=layout.service_account, volume=name)
        case SysprepSource():
            return Folder(path=layout.sysprep(name), volume=name)
        case CloudInitNoCloudSource() | CloudInitConfigDriveSource() as source:
            needed = source.secret_ref or source.network_data_secret_ref
            return Folder(path=layout.secret(name), volume=name) if needed else None
        case _:
            return None


def secrets_of(
    source: CloudInitNoCloudSource | CloudInitConfigDriveSource,
) -> tuple[str | None, str | None]:
    """The Secret to be mounted in the volume's folder, and the one with the network data if that is another."""
    user = source.secret_ref.name if source.secret_ref else None
    network = source.network_data_secret_ref.name if source.network_data_secret_ref else None
    if user and network and user != network:
        return user, network
    return user or network, None


def _network_data(volume: Volume, layout: Layout) -> Folder | None:
    source = volume.cloud_init_no_cloud or volume.cloud_init_config_drive
    if source is None or secrets_of(source)[1] is None:
        return None
    path = layout.network_data(volume.name)
    return Folder(path=path, volume=volume.name, only=NETWORK_KEYS)


def _secret_name(credential: AccessCredential) -> str | None:
    key = credential.ssh_public_key
    return key.source.secret.secret_name if key and key.source.secret else None
