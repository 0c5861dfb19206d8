"""Volumes that a pod claims: a folder, or a disk, that outlives the pod.

Where it is stands in the PersistentVolume that the claim is bound to. Folders of this machine can be had,
and disks: block devices, and files of our own by a loop device.
"""

import asyncio
import stat
from pathlib import Path
from typing import Final

from kubevirt.api.core.pod import Pod
from kubevirt.api.core.pod_volumes import PersistentVolumeClaimVolumeSource
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim
from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from kubevirt.embedded.node.policy import all_containers
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.embedded.node.volumes import host_path, ownership, places
from kubevirt.embedded.node.volumes.contents import NotThere
from kubevirt.embedded.node.volumes.source import Source
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.storage.loop import IN_POD, LoopDevices
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

_BLOCK: Final = "Block"
_FILESYSTEM: Final = "Filesystem"


class Claims:
    def __init__(self, client: Client, settings: NodeSettings, loops: LoopDevices) -> None:
        self._client = client
        self._settings = settings
        self._loops = loops

    async def source(
        self, pod: Pod, volume: str, wanted: PersistentVolumeClaimVolumeSource
    ) -> Source:
        claim = await self._claim(pod, wanted.claim_name)
        found = await self._volume(claim)
        mode = found.spec.volume_mode or _FILESYSTEM
        _check_use(pod, volume, mode)
        path = self._path(found)
        if mode == _BLOCK:
            return await self._disk(pod, found.metadata.name, path)
        _mode(path)
        is_read_only = bool(wanted.read_only)
        if found.spec.local is not None and not is_read_only:
            await self._give(pod, path)
        return Source(path=path, is_read_only=is_read_only)

    async def _claim(self, pod: Pod, name: str) -> PersistentVolumeClaim:
        try:
            claim = await self._client.get(PERSISTENT_VOLUME_CLAIMS, name, pod.metadata.namespace)
        except NotFound:
            raise NotThere(f'persistentvolumeclaim "{name}" not found') from None
        # One that runs already keeps its volume until it ends.
        if claim.metadata.deletion_timestamp is not None and pod.status.phase != "Running":
            raise NotThere("can't start pod because PVC is being deleted")
        if claim.status.phase != "Bound" or not claim.spec.volume_name:
            raise NotThere(f"PVC {name} is not bound")
        return claim

    async def _volume(self, claim: PersistentVolumeClaim) -> PersistentVolume:
        name = claim.spec.volume_name or ""
        try:
            volume = await self._client.get(PERSISTENT_VOLUMES, name)
        except NotFound:
            raise NotThere(f'persistentvolume "{name}" not found') from None
        owner = volume.spec.claim_ref
        if owner is None or owner.uid != claim.metadata.uid:
            raise NotThere(
                f"PV {name} is bound to another claim than {claim.metadata.name}; its data is not shown"
            )
        return volume

    def _path(self, volume: PersistentVolume) -> Path:
        if (local := volume.spec.local) is not None:
            return Path(local.path)
        if (asked := volume.spec.host_path) is not None:
            path = places.host(self._settings.root, asked.path)
            host_path.prepare(path, asked.type or "")
            return path
        raise NotThere(
            f"persistentvolume {volume.metadata.name} is of a type that this node cannot mount; "
            "it mounts local and hostPath volumes"
        )

    async def _disk(self, pod: Pod, name: str, path: Path) -> Source:
        mode = _mode(path)
        if stat.S_ISREG(mode) and self._loops.is_ours(path):
            link = self._settings.pod_folder(pod.metadata.uid) / IN_POD / name
            path = await self._loops.attach(path, link)
        elif not stat.S_ISBLK(mode):
            raise NotThere(f"{path} is no block device, so it cannot be a volume of mode Block")
        return Source(path=path, is_device=True)

    async def _give(self, pod: Pod, path: Path) -> None:
        context = spec_of(pod).security_context
        if context is None or context.fs_group is None:
            return
        is_always = context.fs_group_change_policy != "OnRootMismatch"
        await asyncio.to_thread(ownership.give, path, context.fs_group, is_always=is_always)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        raise NotThere(f'path "{path}" does not exist') from None


def _check_use(pod: Pod, volume: str, mode: str) -> None:
    """A disk has no files, and a folder is no disk."""
    for container in all_containers(pod):
        mounted = any(each.name == volume for each in container.volume_mounts)
        mapped = any(each.name == volume for each in container.volume_devices)
        if mounted and mode == _BLOCK:
            raise NotThere(
                f"volume {volume} has volumeMode {mode}, but is specified in volumeMounts"
            )
        if mapped and mode != _BLOCK:
            raise NotThere(
                f"volume {volume} has volumeMode {mode}, but is specified in volumeDevices"
            )
