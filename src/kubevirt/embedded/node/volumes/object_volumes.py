"""Volumes that are made of objects: written when a pod comes, and again whenever their contents change.

Secrets, tokens and what a pod knows of itself are kept in memory and never reach the disk, as on any node.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kubevirt.api.core.pod import Pod
from kubevirt.api.core.pod_volumes import Volume
from kubevirt.api.struct import Quantity
from kubevirt.base.clock import Clock
from kubevirt.embedded.node.downward import Places
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.embedded.node.volumes import folders, projected, things
from kubevirt.embedded.node.volumes.contents import NotThere, Origin
from kubevirt.embedded.node.volumes.following import Following
from kubevirt.embedded.node.volumes.published import publish
from kubevirt.embedded.node.volumes.source import Source
from kubevirt.embedded.node.volumes.token_requests import TokenRequests
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.host import mounts

_MODE: Final = 0o755
_MOST_BYTES: Final = 256 << 20
"""An upper bound for one volume; memory is only taken for what is in it."""

Allocatable = Callable[[], Mapping[str, Quantity]]


class ObjectVolumes:
    def __init__(
        self,
        settings: NodeSettings,
        following: Following,
        tokens: TokenRequests,
        clock: Clock,
        allocatable: Allocatable,
    ) -> None:
        self._settings = settings
        self._following = following
        self._tokens = tokens
        self._clock = clock
        self._allocatable = allocatable

    async def prepare(self, pod: Pod, volume: Volume) -> Source:
        """NotThere for what it is made of, but for what is optional."""
        await self._following.known(things.of_volume(pod, volume))
        tokens = await self._tokens.current(pod) if volume.projected is not None else {}
        place = folders.of(volume)
        contents = projected.files(volume, self._origin(pod, tokens))
        if place is None or contents is None:
            raise NotThere(f"{volume.name} is not made of objects")
        folder = self._folder(pod, volume, place)
        context = spec_of(pod).security_context
        publish(folder, contents, self._clock.now(), group=context.fs_group if context else None)
        return Source(path=folder, is_read_only=True)

    def _folder(self, pod: Pod, volume: Volume, place: str) -> Path:
        folder = folders.make(self._settings.pod_folder(pod.metadata.uid), place)
        if volume.config_map is None and not folder.is_mount():
            mounts.memory(folder, _MODE, _MOST_BYTES)
        return folder

    def _origin(self, pod: Pod, tokens: Mapping[tuple[str, str], str]) -> Origin:
        namespace = pod.metadata.namespace or ""
        return Origin(
            pod=pod,
            config_maps=self._following.config_maps(namespace),
            secrets=self._following.secrets(namespace),
            places=Places(allocatable=self._allocatable()),
            tokens=tokens,
        )


def is_one(volume: Volume) -> bool:
    kinds = (volume.config_map, volume.secret, volume.downward_api, volume.projected)
    return any(each is not None for each in kinds)
