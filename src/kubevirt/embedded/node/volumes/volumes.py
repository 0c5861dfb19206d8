"""The volumes of this node's pods: prepared before their containers, kept fresh, taken away after them.

    volumes = Volumes(settings, client, images, loops, clock, on_news=worker.wake)
    async with volumes.running():
        await volumes.prepare(pod)
        mounts = volumes.mounts(pod, container)
        await volumes.tear_down(uid)

Nothing of it has to survive us: folders, mounts and devices are found again under the pod's own folder, so a
new process prepares the same pod once more and changes nothing that is right.
"""

import asyncio
import errno
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.pod_volumes import ImageVolumeSource, Volume
from kubevirt.api.scheme import PODS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.embedded.node.neighbours import Images, NoImageForVolume, NotNow
from kubevirt.embedded.node.policy import FINAL_PHASES
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.embedded.node.volumes import (
    empty_dir,
    folders,
    host_path,
    mounting,
    object_volumes,
    places,
    things,
    usage,
)
from kubevirt.embedded.node.volumes.claims import Claims
from kubevirt.embedded.node.volumes.contents import NotThere
from kubevirt.embedded.node.volumes.following import Following
from kubevirt.embedded.node.volumes.object_volumes import Allocatable, ObjectVolumes
from kubevirt.embedded.node.volumes.source import Source
from kubevirt.embedded.node.volumes.token_requests import TokenRequests
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.host import mounts as machine
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, Result

log = get_logger(__name__)

REASON: Final = "FailedMount"
LOOK_EVERY_S: Final = 10.0
"""At volumes that may not hold more than so much: a kubelet's interval."""
_FOLDERS: Final = ("volume-subpaths", "volumeDevices", "volumes")
_KINDS: Final = (
    "configMap, secret, downwardAPI, projected, emptyDir, hostPath, persistentVolumeClaim and image"
)


class _Held(msgspec.Struct, kw_only=True):
    """What is known of a pod's volumes."""

    pod: Pod
    lock: asyncio.Lock
    sources: dict[str, Source]
    is_prepared: bool = False
    overfull: str = ""


class Volumes:
    def __init__(
        self,
        settings: NodeSettings,
        client: Client,
        images: Images,
        loops: LoopDevices,
        clock: Clock,
        *,
        allocatable: Allocatable = dict,
        on_news: Callable[[str], None] = lambda _: None,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        """`on_news` is called with the uid of a pod that shall be looked at again: something came that it
        waited for, or a volume is overfull.
        """
        self._settings = settings
        self._client = client
        self._images = images
        self._loops = loops
        self._clock = clock
        self._on_news = on_news
        self._look_every_s = look_every_s
        self._held: dict[str, _Held] = {}
        self._refreshing: Controller[str] = Controller("volumes", self._refresh, clock=clock)
        self._following = Following(client, clock, self._refreshing.queue.add)
        self._tokens = TokenRequests(client, clock)
        self._claims = Claims(client, settings, loops)
        self._objects = ObjectVolumes(settings, self._following, self._tokens, clock, allocatable)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self._loops.release()
        async with self._following.running(), background(self._refreshing.run(), self._look()):
            yield

    # What a node asks for

    async def prepare(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        held = self._held.get(uid)
        if held is None:
            held = self._held[uid] = _Held(pod=pod, lock=asyncio.Lock(), sources={})
        async with held.lock:
            held.pod = pod
            self._make_folder(uid)
            self._following.use(uid, things.of_pod(pod))
            for volume in spec_of(pod).volumes:
                # Only what is made of objects changes under a pod; the rest is where it was.
                if volume.name not in held.sources or object_volumes.is_one(volume):
                    held.sources[volume.name] = await self._prepared(pod, volume)
            held.is_prepared = True
        self._plan_renewal(uid)

    def mounts(
        self, pod: Pod, container: Container, environment: Mapping[str, str] | None = None
    ) -> Sequence[Mount]:
        uid = pod.metadata.uid
        held = self._held.get(uid)
        if held is None or not held.is_prepared:
            raise NotNow(
                mounting.REASON, f"the volumes of pod {pod.metadata.name} are not ready yet"
            )
        folder = self._settings.pod_folder(uid)
        return mounting.mounts(container, held.sources, folder, environment or {})

    def overfull(self, uid: str) -> str:
        held = self._held.get(uid)
        return held.overfull if held else ""

    async def tear_down(self, uid: str) -> None:
        held = self._held.pop(uid, None)
        async with held.lock if held else asyncio.Lock():
            self._following.forget(uid)
            self._tokens.forget(uid)
            try:
                await asyncio.to_thread(_clear, self._settings.pod_folder(uid))
                await self._loops.release()
            except (OSError, KubevirtError) as error:
                raise NotNow("FailedUnMount", str(error)) from None

    # Each kind

    async def _prepared(self, pod: Pod, volume: Volume) -> Source:
        try:
            return await self._source(pod, volume)
        except NotNow as error:
            if volume.image is not None:
                image = volume.image.reference or ""
                raise NoImageForVolume(
                    error.reason, error.message, volume=volume.name, image=image
                ) from None
            why = error.message
        except OSError as error:
            why = self._explained(error)
        except KubevirtError as error:
            why = str(error)
        raise NotNow(REASON, f'MountVolume.SetUp failed for volume "{volume.name}" : {why}')

    async def _source(self, pod: Pod, volume: Volume) -> Source:
        if object_volumes.is_one(volume):
            return await self._objects.prepare(pod, volume)
        if volume.empty_dir is not None and (place := folders.of(volume)):
            context = spec_of(pod).security_context
            folder, group = self._folder(pod), context.fs_group if context else None
            return Source(path=empty_dir.prepare(folder, place, volume.empty_dir, group))
        if (asked := volume.host_path) is not None:
            path = places.host(self._settings.root, asked.path)
            host_path.prepare(path, asked.type or "")
            return Source(path=path)
        if (claim := volume.persistent_volume_claim) is not None:
            return await self._claims.source(pod, volume.name, claim)
        if volume.image is not None:
            return await self._image(pod, volume, volume.image)
        raise NotThere(await self._unknown(pod, volume))

    async def _image(self, pod: Pod, volume: Volume, wanted: ImageVolumeSource) -> Source:
        await self._following.known(things.of_volume(pod, volume))
        secrets = self._following.secrets(pod.metadata.namespace or "")
        named = (secrets.get(each.name or "") for each in spec_of(pod).image_pull_secrets)
        encoded = (each.data.get(".dockerconfigjson") for each in named if each)
        credentials = [b64decode(each) for each in encoded if each]
        policy = wanted.pull_policy or "IfNotPresent"
        image = await self._images.get(wanted.reference or "", policy, credentials)
        if image.root is None:
            raise NotThere(
                f"{wanted.reference} is the built-in image, which has no files of its own"
            )
        return Source(path=image.root, is_read_only=True)

    async def _unknown(self, pod: Pod, volume: Volume) -> str:
        """Our own types do not know what they do not have: the server does."""
        metadata = pod.metadata
        whole = await self._client.get(PODS.raw, metadata.name, metadata.namespace)
        kinds = _kinds_of(whole, volume.name)
        return f"volumes of type {kinds or 'none'} cannot be had on this node; it has {_KINDS}"

    # Keeping them fresh

    async def _refresh(self, uid: str) -> Result:
        """After news of an object, or when a token is due."""
        held = self._held.get(uid)
        if held is None:
            return DONE
        if not held.is_prepared:
            self._on_news(uid)
            return DONE
        async with held.lock:
            if self._held.get(uid) is not held:
                return DONE
            for volume in filter(object_volumes.is_one, spec_of(held.pod).volumes):
                try:
                    await self._objects.prepare(held.pod, volume)
                except NotThere as error:
                    # Containers keep what they have; a new one waits for what is missing.
                    log.warning("volume not refreshed", pod=uid, volume=volume.name, error=error)
        after_s = self._tokens.next_s(uid)
        return DONE if after_s is None else After(after_s)

    def _plan_renewal(self, uid: str) -> None:
        after_s = self._tokens.next_s(uid)
        if after_s is not None:
            self._refreshing.queue.add_after(uid, after_s)

    async def _look(self) -> None:
        while True:
            await self._clock.sleep(self._look_every_s)
            volumes = [each for held in self._held.values() for each in self._limited(held)]
            try:
                used = await usage.measured(volumes)
            except KubevirtError as error:
                log.warning("volumes could not be measured", error=error)
                continue
            for each in usage.overfull(volumes, used):
                if (held := self._held.get(each.uid)) and not held.overfull:
                    held.overfull = each.message
                    self._on_news(each.uid)

    def _limited(self, held: _Held) -> Sequence[usage.Limited]:
        if not held.is_prepared or held.overfull or held.pod.status.phase in FINAL_PHASES:
            return ()
        return tuple(usage.limited(held.pod, self._folder(held.pod)))

    # Folders

    def _folder(self, pod: Pod) -> Path:
        return self._settings.pod_folder(pod.metadata.uid)

    def _make_folder(self, uid: str) -> None:
        try:
            self._settings.pod_folder(uid).mkdir(mode=0o750, parents=True, exist_ok=True)
        except OSError as error:
            raise NotNow(REASON, self._explained(error)) from None

    def _explained(self, error: OSError) -> str:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return f"the disk of {self._settings.folder} is full; make room there"
        return str(error)


def _kinds_of(pod: Mapping[str, Any], name: str) -> str:
    volumes = (pod.get("spec") or {}).get("volumes") or ()
    found: Mapping[str, Any] = next((each for each in volumes if each.get("name") == name), {})
    return ", ".join(kind for kind in found if kind != "name")


def _clear(folder: Path) -> None:
    """All mounts first: nothing is removed through one."""
    if not folder.exists():
        return
    machine.unmount_below(folder)
    with Root.open(folder) as root:
        for name in _FOLDERS:
            if root.exists(name):
                root.remove_tree(name)
    if not any(folder.iterdir()):
        folder.rmdir()
