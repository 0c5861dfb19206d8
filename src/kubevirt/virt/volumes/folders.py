"""Folders that the host side must read before volumes can be planned: mounted Secrets and their like."""

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


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """Read its plain files, not those that begin with two dots: Kubernetes' own."""

    path: str
    volume: str | None = None
    """Goes to `Contents.volumes` under this name."""
    credential: str | None = None
    """Goes to `Contents.credentials` under this Secret's name."""
    optional: bool = False
    """A missing folder is an empty one."""


def folders_to_read(vmi: VirtualMachineInstance, layout: Layout) -> tuple[Folder, ...]:
    volumes = [_folder(volume, layout) for volume in vmi.spec.volumes]
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


def _secret_name(credential: AccessCredential) -> str | None:
    key = credential.ssh_public_key
    return key.source.secret.secret_name if key and key.source.secret else None
