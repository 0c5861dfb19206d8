"""Copies of volumes for claims that name another claim as their source.

What is copied must stay as it is meanwhile. So its claim is held (a finalizer, as in Kubernetes), and a copy that
a pod could have written to while it was made is not believed. Nothing of this is remembered: after a crash nobody
copies, so whatever is held still is let go (`decide.py`), and the copy begins anew.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from kubevirt.api.core.storage import PersistentVolumeClaim
from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.embedded.storage import copying, decide, objects, sources, users
from kubevirt.embedded.storage.provisioner import Provisioner
from kubevirt.embedded.storage.users import USERS
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch

log = get_logger(__name__)


class Clones:
    def __init__(self, client: Client, provisioner: Provisioner) -> None:
        self._client = client
        self._provisioner = provisioner
        self._copied: Counter[Key] = Counter()
        self._lock = asyncio.Lock()

    @property
    def copied(self) -> Collection[Key]:
        """Claims that are being copied now."""
        return self._copied.keys()

    async def make(self, claim: PersistentVolumeClaim, source: PersistentVolumeClaim) -> None:
        """The data of a claim, as a copy of another's. There already, it stays as it is."""
        name = objects.volume_name(claim)
        if self._provisioner.has(name):
            return
        with self._counted(Key.of(source)):
            path = await self._hold(source)

            async def check() -> None:
                await self._be_sure_nobody_uses(Key.of(source))

            await check()
            await copying.copy(path, self._provisioner.path(name), check=check)
            log.info("volume copied", source=path.name, volume=name)

    @contextmanager
    def _counted(self, source: Key) -> Iterator[None]:
        """Before it is held, so that nobody takes what holds it for a leftover."""
        self._copied[source] += 1
        try:
            yield
        finally:
            self._copied[source] -= 1
            if not self._copied[source]:
                del self._copied[source]

    async def _hold(self, source: PersistentVolumeClaim) -> Path:
        """The claim, as the server has it now: it is not gone before it is released. Says where its data is."""
        async with self._lock:
            now = await self._now(source)
            kept = now.metadata.finalizers
            if decide.COPYING_PROTECTION not in kept:
                await self._keep(now, objects.with_one(kept, decide.COPYING_PROTECTION))
        try:
            volume = await self._client.get(PERSISTENT_VOLUMES, now.spec.volume_name or "")
        except NotFound:
            raise Retry(sources.cannot(Key.of(source), sources.UNBOUND)) from None
        path = self._provisioner.path(volume.metadata.name)
        if volume.spec.local is None or volume.spec.local.path != str(path):
            raise Retry(f"{path.name} says that it was made here, but its data is elsewhere")
        return path

    async def _now(self, source: PersistentVolumeClaim) -> PersistentVolumeClaim:
        key = Key.of(source)
        try:
            now = await self._client.get(PERSISTENT_VOLUME_CLAIMS, key.name, key.namespace)
        except NotFound:
            raise Retry(sources.cannot(Key.of(source), sources.UNBOUND)) from None
        if now.metadata.uid != source.metadata.uid:
            raise Retry(f"claim {key} is another one by now")
        if now.metadata.deletion_timestamp is not None:
            raise Retry(sources.cannot(key, sources.going(key)))
        return now

    async def _be_sure_nobody_uses(self, key: Key) -> None:
        """A pod that runs was there on the server before it could write anything."""
        pods = await self._client.list(USERS, key.namespace)
        if any(users.holds(pod) and key in users.claims(pod) for pod in pods.items):
            raise Retry(sources.cannot(key, sources.in_use(key)))

    async def release(self, source: PersistentVolumeClaim) -> None:
        async with self._lock:
            if Key.of(source) in self._copied:
                return
            left = objects.without(source.metadata.finalizers, decide.COPYING_PROTECTION)
            try:
                await self._keep(source, left)
            except NotFound:
                return

    async def _keep(self, claim: PersistentVolumeClaim, finalizers: list[str]) -> None:
        version = claim.metadata.resource_version
        patch = {"metadata": {"resourceVersion": version, "finalizers": finalizers}}
        key = Key.of(claim)
        await self._client.patch(
            PERSISTENT_VOLUME_CLAIMS, key.name, MergePatch(patch), key.namespace
        )
