"""Does what was decided for claims and volumes.

Caches may be behind. So whatever cannot be undone is done only after the server was asked: a claim is not
called lost, data is not removed and protection not taken away because a cache does not show something.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.embedded.objects import claims
from kubevirt.embedded.storage import decide, objects, steps, users
from kubevirt.embedded.storage.clones import Clones
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.embedded.storage.provisioner import Provisioner
from kubevirt.embedded.storage.users import USERS
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, Conflict, NotFound
from kubevirt.kube.events import EventRecorder, reference
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch


class Carrying:
    def __init__(
        self,
        client: Client,
        provisioner: Provisioner,
        loops: LoopDevices,
        recorder: EventRecorder,
        clock: Clock,
        clones: Clones,
    ) -> None:
        self._client = client
        self._provisioner = provisioner
        self._loops = loops
        self._recorder = recorder
        self._clock = clock
        self._clones = clones
        self._told: dict[str, tuple[str, str]] = {}
        """By uid: what was said last, so that it is said once."""

    def forget(self, uid: str) -> None:
        self._told.pop(uid, None)

    # Claims

    async def for_claim(
        self, claim: PersistentVolumeClaim, step: steps.ClaimStep, made_by: StorageClass | None
    ) -> None:
        match step:
            case steps.Tell():
                self._tell_of_claim(claim, step)
            case steps.Bind(volume):
                await self._bind(claim, volume)
            case steps.Provision(node):
                await self._provision(claim, made_by, node)
            case steps.Classify(name):
                await self._patch_claim(claim, {"spec": {"storageClassName": name}})
            case steps.Grow(volume, to):
                await self._grow(claim, volume, to)
            case steps.Lose():
                await self._lose(claim, step)
            case steps.Wait():
                await self._wait(claim)
            case steps.Unprotect():
                await self._unprotect_claim(claim)
            case steps.Release():
                await self._clones.release(claim)

    async def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """The volume first: from then on it is nobody else's."""
        owner = volume.spec.claim_ref
        is_held = decide.VOLUME_PROTECTION in volume.metadata.finalizers
        if owner is None or owner.uid != claim.metadata.uid or not is_held:
            patch = MergePatch(objects.volume_of(claim, volume))
            volume = await self._client.patch(PERSISTENT_VOLUMES, volume.metadata.name, patch)
        if not decide.is_claim_complete(claim, volume):
            claim = await self._patch_claim(claim, objects.claim_on(claim, volume))
        if claim.status.phase != "Bound":
            await self._show_claim(claim, objects.bound_status(volume))
        if volume.status.phase != "Bound":
            await self._show_volume(volume, steps.Show("Bound"))

    async def _provision(
        self, claim: PersistentVolumeClaim, made_by: StorageClass | None, node: str
    ) -> None:
        if made_by is None:
            raise Retry(f"the class of claim {Key.of(claim)} has just gone")
        name, size = objects.volume_name(claim), claims.size(claim).value()
        with self._failure_told(claim, made_by):
            path = self._provisioner.make(name, claims.mode(claim.spec.volume_mode), size)
        wanted = objects.new_volume(claim, made_by, node, path)
        try:
            volume = await self._client.create(PERSISTENT_VOLUMES, wanted)
        except AlreadyExists:
            volume = await self._client.get(PERSISTENT_VOLUMES, name)
            if not claims.is_for(volume.spec.claim_ref, claim):
                raise Retry(f"volume {name} is there and belongs to another claim") from None
        message = f"Successfully provisioned volume {name}"
        self._tell_of_claim(claim, steps.Tell("ProvisioningSucceeded", message))
        await self._bind(claim, volume)

    async def copy(
        self, claim: PersistentVolumeClaim, source: PersistentVolumeClaim, made_by: StorageClass
    ) -> None:
        """May take long, unlike all else here."""
        with self._failure_told(claim, made_by):
            await self._clones.make(claim, source)

    @contextmanager
    def _failure_told(self, claim: PersistentVolumeClaim, made_by: StorageClass) -> Iterator[None]:
        try:
            yield
        except Conflict:
            raise  # nobody need know: it is tried again at once
        except Retry as error:
            message = (
                f'failed to provision volume with StorageClass "{made_by.metadata.name}": {error}'
            )
            self._tell_of_claim(claim, steps.Tell("ProvisioningFailed", message, is_warning=True))
            raise

    async def _grow(self, claim: PersistentVolumeClaim, volume: PersistentVolume, to: str) -> None:
        path = self._provisioner.grow(volume.metadata.name, claims.size(claim).value())
        await self._loops.grown(path)
        if claims.capacity(volume) < claims.size(claim):
            size = MergePatch({"spec": {"capacity": {"storage": to}}})
            volume = await self._client.patch(PERSISTENT_VOLUMES, volume.metadata.name, size)
        await self._show_claim(claim, {"capacity": dict(volume.spec.capacity)})
        told = steps.Tell("VolumeResizeSuccessful", f"the volume now has {to}")
        self._tell_of_claim(claim, told)

    async def _lose(self, claim: PersistentVolumeClaim, step: steps.Lose) -> None:
        if claim.status.phase == "Lost":
            return
        name = claim.spec.volume_name
        if name and await self._has(claim, name):
            raise Retry(f"volume {name} of claim {Key.of(claim)} is not seen yet")
        await self._show_claim(claim, {"phase": "Lost"})
        self._tell_of_claim(claim, steps.Tell(step.reason, step.message, is_warning=True))

    async def _has(self, claim: PersistentVolumeClaim, name: str) -> bool:
        try:
            volume = await self._client.get(PERSISTENT_VOLUMES, name)
        except NotFound:
            return False
        owner = volume.spec.claim_ref
        return owner is None or claims.is_for(owner, claim)

    async def _unprotect_claim(self, claim: PersistentVolumeClaim) -> None:
        metadata = claim.metadata
        pods = await self._client.list(USERS, metadata.namespace)
        if any(users.holds(pod) and Key.of(claim) in users.claims(pod) for pod in pods.items):
            raise Retry(f"claim {Key.of(claim)} is used by a pod that is not seen yet")
        left = objects.without(metadata.finalizers, decide.CLAIM_PROTECTION)
        patch = {"metadata": {"resourceVersion": metadata.resource_version, "finalizers": left}}
        await self._patch_claim(claim, patch)

    async def _wait(self, claim: PersistentVolumeClaim) -> None:
        if claim.status.phase != "Pending":
            await self._show_claim(claim, {"phase": "Pending"})

    async def _patch_claim(
        self, claim: PersistentVolumeClaim, change: dict[str, Any]
    ) -> PersistentVolumeClaim:
        name, namespace = claim.metadata.name, claim.metadata.namespace
        return await self._client.patch(
            PERSISTENT_VOLUME_CLAIMS, name, MergePatch(change), namespace
        )

    async def _show_claim(self, claim: PersistentVolumeClaim, status: dict[str, object]) -> None:
        await self._client.patch_status(
            PERSISTENT_VOLUME_CLAIMS,
            claim.metadata.name,
            MergePatch({"status": status}),
            claim.metadata.namespace,
        )

    # Volumes

    async def for_volume(self, volume: PersistentVolume, step: steps.VolumeStep) -> None:
        match step:
            case steps.Show("Released" | "Failed"):
                await self._be_sure_its_claim_is_gone(volume)
                await self._show_volume(volume, step)
            case steps.Show():
                await self._show_volume(volume, step)
            case steps.Tell():
                self._tell_of_volume(volume, step)
            case steps.Free():
                await self._free(volume)
            case steps.Reclaim():
                await self._reclaim(volume)
            case steps.Unprotect():
                await self._be_sure_its_claim_is_gone(volume)
                await self._unprotect_volume(volume)

    async def _reclaim(self, volume: PersistentVolume) -> None:
        await self._be_sure_its_claim_is_gone(volume)
        name = volume.metadata.name
        local = volume.spec.local
        if local is None or local.path != str(self._provisioner.path(name)):
            message = (
                f"{name} says that it was made here, but its data is elsewhere; nothing is removed"
            )
            await self._show_volume(volume, steps.Show("Failed", message))
            self._tell_of_volume(volume, steps.Tell("VolumeFailedDelete", message, is_warning=True))
            return
        await self._provisioner.remove(name)
        if volume.metadata.deletion_timestamp is None:
            await self._client.delete(PERSISTENT_VOLUMES, name, uid=volume.metadata.uid)
        await self._unprotect_volume(volume)

    async def _be_sure_its_claim_is_gone(self, volume: PersistentVolume) -> None:
        owner = volume.spec.claim_ref
        if owner is None or not owner.uid:
            return
        try:
            claim = await self._client.get(
                PERSISTENT_VOLUME_CLAIMS, owner.name or "", owner.namespace
            )
        except NotFound:
            return
        is_same = claim.metadata.uid == owner.uid
        if is_same and claim.spec.volume_name in (None, "", volume.metadata.name):
            raise Retry(f"the claim of volume {volume.metadata.name} is not seen yet")

    async def _free(self, volume: PersistentVolume) -> None:
        patch = {
            "metadata": {
                "resourceVersion": volume.metadata.resource_version,
                "annotations": {decide.BOUND_BY_CONTROLLER: None},
            },
            "spec": {"claimRef": None},
        }
        await self._client.patch(PERSISTENT_VOLUMES, volume.metadata.name, MergePatch(patch))

    async def _unprotect_volume(self, volume: PersistentVolume) -> None:
        left = objects.without(volume.metadata.finalizers, decide.VOLUME_PROTECTION)
        patch = MergePatch({"metadata": {"uid": volume.metadata.uid, "finalizers": left}})
        try:
            await self._client.patch(PERSISTENT_VOLUMES, volume.metadata.name, patch)
        except NotFound:
            return

    async def _show_volume(self, volume: PersistentVolume, step: steps.Show) -> None:
        status = objects.phase(step.phase, step.message, self._clock.now())
        name = volume.metadata.name
        await self._client.patch_status(PERSISTENT_VOLUMES, name, MergePatch({"status": status}))

    # Events

    def _tell_of_claim(self, claim: PersistentVolumeClaim, step: steps.Tell) -> None:
        if self._is_news(claim.metadata.uid, step):
            about = reference(PERSISTENT_VOLUME_CLAIMS, claim)
            tell = self._recorder.warning if step.is_warning else self._recorder.normal
            tell(about, step.reason, step.message)

    def _tell_of_volume(self, volume: PersistentVolume, step: steps.Tell) -> None:
        if self._is_news(volume.metadata.uid, step):
            about = reference(PERSISTENT_VOLUMES, volume)
            self._recorder.warning(about, step.reason, step.message)

    def _is_news(self, uid: str, step: steps.Tell) -> bool:
        said = (step.reason, step.message)
        is_news = self._told.get(uid) != said
        self._told[uid] = said
        return is_news
