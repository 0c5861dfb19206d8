"""Carrying a decision out: volumes first, then the pod, then the word of it.

A pod whose claims wait for their first consumer is bound only when each of them has its volume: a node that
cannot have one is found out before anything runs there. Meanwhile the pod keeps its place, and nobody waits:
whoever changes a claim brings its pod back here.
"""

from collections.abc import Callable, Sequence

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.api.core.storage import PersistentVolumeClaim
from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.embedded.objects import claims
from kubevirt.embedded.scheduler import telling
from kubevirt.embedded.scheduler.storage import Provide, Step, Storage, Take
from kubevirt.kube.cache.resource_version import is_older
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Result
from kubevirt.kube.errors import Conflict, NotFound
from kubevirt.kube.events import EventRecorder, reference
from kubevirt.kube.patches import MergePatch, StrategicMergePatch


class BindingSettings(msgspec.Struct, frozen=True, kw_only=True):
    volume_limit_s: float = 600.0
    """How long the volumes of a pod may take; Kubernetes' own limit."""


class NoVolumes(Retry):
    """The volumes of a pod cannot be had where it was to run."""


class Placement(msgspec.Struct, kw_only=True):
    """A pod that was given a node."""

    pod: Pod
    node: str
    since: float
    steps: Sequence[Step] = ()
    asked: dict[str, str] = {}
    """By uid of a claim, the version in which the server shows what was asked for it."""

    @property
    def promised(self) -> dict[str, str]:
        return {
            each.volume.metadata.name: each.claim.metadata.uid
            for each in self.steps
            if isinstance(each, Take)
        }


class Binding:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        recorder: EventRecorder,
        stored: Callable[[], Storage],
        settings: BindingSettings,
    ) -> None:
        """`stored` is what there is of claims and volumes now."""
        self._client = client
        self._clock = clock
        self._recorder = recorder
        self._stored = stored
        self._settings = settings

    async def carry_out(self, placement: Placement) -> Result:
        """DONE when the pod is bound or gone; After while its volumes are on their way."""
        await self._ask_for_volumes(placement)
        if not self._has_volumes(placement):
            left_s = placement.since + self._settings.volume_limit_s - self._clock.monotonic()
            if left_s <= 0:
                raise NoVolumes("binding volumes: timed out waiting for the condition")
            return After(left_s)
        pod = placement.pod
        namespace, name = pod.metadata.namespace or "", pod.metadata.name
        try:
            await self._client.bind(name, namespace, placement.node, uid=pod.metadata.uid)
        except NotFound:
            return DONE
        message = f"Successfully assigned {namespace}/{name} to {placement.node}"
        self._recorder.normal(reference(PODS, pod), "Scheduled", message)
        return DONE

    def complain(self, placement: Placement, error: NoVolumes) -> None:
        """In the words of Kubernetes, where a plugin of the scheduler sees to volumes."""
        message = f'running PreBind plugin "VolumeBinding": {error}'
        self._recorder.warning(reference(PODS, placement.pod), "FailedScheduling", message)

    async def tell(self, pod: Pod, message: str) -> None:
        """Why it has no node."""
        patch = telling.unscheduled(pod, message, self._clock.now())
        if patch is None:
            return
        self._recorder.warning(reference(PODS, pod), "FailedScheduling", message)
        namespace, name = pod.metadata.namespace, pod.metadata.name
        try:
            await self._client.patch_status(PODS, name, StrategicMergePatch(patch), namespace)
        except (NotFound, Conflict):
            return  # it is gone, or another by now: the cache will say so

    # Volumes

    async def _ask_for_volumes(self, placement: Placement) -> None:
        for step in placement.steps:
            uid = step.claim.metadata.uid
            if uid in placement.asked:
                continue
            try:
                placement.asked[uid] = await self._ask(step, placement.node)
            except NotFound as error:
                raise NoVolumes(str(error)) from None

    async def _ask(self, step: Step, node: str) -> str:
        claim = step.claim.metadata
        if isinstance(step, Take):
            volume = step.volume.metadata
            meant = reference(PERSISTENT_VOLUME_CLAIMS, step.claim)
            # Only in the version that was chosen: somebody else may have taken it.
            patch = {"metadata": _exactly(volume.resource_version), "spec": {"claimRef": meant}}
            taken = await self._client.patch(PERSISTENT_VOLUMES, volume.name, MergePatch(patch))
            return taken.metadata.resource_version or ""
        annotations = {claims.SELECTED_NODE: node}
        change = MergePatch({"metadata": {"uid": claim.uid, "annotations": annotations}})
        changed = await self._client.patch(
            PERSISTENT_VOLUME_CLAIMS, claim.name, change, claim.namespace
        )
        return changed.metadata.resource_version or ""

    def _has_volumes(self, placement: Placement) -> bool:
        stored = self._stored() if placement.steps else Storage()
        found = [self._has_volume(each, placement, stored) for each in placement.steps]
        return all(found)

    def _has_volume(self, step: Step, placement: Placement, stored: Storage) -> bool:
        """Raises `NoVolumes` when whoever was asked has said no."""
        key = (step.claim.metadata.namespace or "", step.claim.metadata.name)
        claim = stored.claims.get(key)
        if claim is None or claim.metadata.uid != step.claim.metadata.uid:
            raise NoVolumes(f'persistentvolumeclaim "{key[1]}" not found')
        if claims.is_bound(claim):
            return True
        asked = placement.asked[claim.metadata.uid]
        if _is_refused(step, claim, placement.node, stored, asked):
            raise NoVolumes(f'no volume for persistentvolumeclaim "{key[1]}" on {placement.node}')
        return False


def _is_refused(
    step: Step, claim: PersistentVolumeClaim, node: str, stored: Storage, asked: str
) -> bool:
    """Whether what was asked for is undone, as far as the cache has come."""
    if isinstance(step, Provide):
        is_known = not is_older(claim.metadata.resource_version, asked)
        return is_known and claim.metadata.annotations.get(claims.SELECTED_NODE) != node
    volume = stored.volumes.get(step.volume.metadata.name)
    if volume is None:
        return True
    is_known = not is_older(volume.metadata.resource_version, asked)
    meant = volume.spec.claim_ref
    return is_known and (meant is None or meant.uid != claim.metadata.uid)


def _exactly(version: str | None) -> dict[str, str]:
    return {"resourceVersion": version} if version else {}
