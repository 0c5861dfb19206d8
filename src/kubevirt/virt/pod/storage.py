"""Storage: volumes of a pod, and where its first container sees them."""

from collections.abc import Iterable

import msgspec

from kubevirt.api.core.container import VolumeDevice, VolumeMount
from kubevirt.api.core.pod_volumes import EmptyDirVolumeSource, Volume


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    volumes: tuple[Volume, ...] = ()
    mounts: tuple[VolumeMount, ...] = ()
    devices: tuple[VolumeDevice, ...] = ()

    @classmethod
    def together(cls, parts: "Iterable[Storage]") -> "Storage":
        each = tuple(parts)
        return cls(
            volumes=tuple(volume for part in each for volume in part.volumes),
            mounts=tuple(mount for part in each for mount in part.mounts),
            devices=tuple(device for part in each for device in part.devices),
        )


def mounted(volume: Volume, path: str, *, read_only: bool = False) -> Storage:
    mount = VolumeMount(name=volume.name, mount_path=path, read_only=read_only or None)
    return Storage(volumes=(volume,), mounts=(mount,))


def folder(name: str, path: str, medium: str | None = None) -> Storage:
    """An empty one, for as long as the pod lives."""
    return mounted(Volume(name=name, empty_dir=EmptyDirVolumeSource(medium=medium)), path)
