"""What is to be done for a claim, or for a volume: Kubernetes' rules of binding, as pure functions.

Two objects are written to bind them, so a crash may leave one of them behind. The volume is written first:
it names its claim, and from then on nobody else can have it.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.base.quantity import Quantity
from kubevirt.embedded.objects import claims
from kubevirt.embedded.objects.claims import BIND_COMPLETED
from kubevirt.embedded.storage import sources, steps
from kubevirt.embedded.storage.classes import PROVISIONER, default_class, is_ours
from kubevirt.kube.key import Key

BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
CLAIM_PROTECTION: Final = "kubernetes.io/pvc-protection"
COPYING_PROTECTION: Final = "provisioner.storage.kubernetes.io/cloning-protection"
VOLUME_PROTECTION: Final = "kubernetes.io/pv-protection"

_LOST: Final = steps.Lose(
    "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
)
_LOST_NAME: Final = steps.Lose(
    "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
)
_MISBOUND: Final = steps.Lose(
    "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly"
)
_FIRST_CONSUMER: Final = steps.Tell(
    "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
)
_NO_CLASS: Final = steps.Tell(
    "FailedBinding",
    "no persistent volumes available for this claim and no storage class is set",
)


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    claims: Mapping[Key, PersistentVolumeClaim] = {}
    volumes: Mapping[str, PersistentVolume] = {}
    classes: Mapping[str, StorageClass] = {}
    waiting_pods: Mapping[Key, str] = {}
    """By claim: a pod that wants it and has no node yet."""
    used: Collection[Key] = ()
    """Claims that pods with a node use."""
    copied: Collection[Key] = ()
    """Claims that are being copied now."""
    made: Collection[Key] = ()
    """Claims whose copy of another is there, whatever became of the other."""


def for_claim(claim: PersistentVolumeClaim, seen: Seen) -> list[steps.ClaimStep]:
    if COPYING_PROTECTION in claim.metadata.finalizers and Key.of(claim) not in seen.copied:
        return [steps.Release()]  # that changes it, so it is looked at again
    if claim.metadata.deletion_timestamp is not None:
        is_held = CLAIM_PROTECTION in claim.metadata.finalizers
        return [steps.Unprotect()] if is_held and Key.of(claim) not in seen.used else []
    if BIND_COMPLETED in claim.metadata.annotations:
        return _bound(claim, seen)
    if claim.spec.volume_name:
        return _named(claim, seen)
    return _unbound(claim, seen)


def _bound(claim: PersistentVolumeClaim, seen: Seen) -> list[steps.ClaimStep]:
    if not claim.spec.volume_name:
        return [_LOST_NAME]
    volume = seen.volumes.get(claim.spec.volume_name)
    if volume is None:
        return [_LOST]
    if volume.spec.claim_ref is not None and not claims.is_for(volume.spec.claim_ref, claim):
        return [_MISBOUND]
    return [*_bind(claim, volume), *_grow(claim, volume, seen)]


def _named(claim: PersistentVolumeClaim, seen: Seen) -> list[steps.ClaimStep]:
    """The user says which volume it shall be."""
    volume = seen.volumes.get(claim.spec.volume_name or "")
    if volume is None:
        return [steps.Wait()]
    if volume.spec.claim_ref is None:
        if why := claims.misfit(claim, volume):
            name = volume.metadata.name
            message = f'Cannot bind to requested volume "{name}": {why}'
            return [steps.Wait(), steps.Tell("VolumeMismatch", message, is_warning=True)]
        return _bind(claim, volume)
    if claims.is_for(volume.spec.claim_ref, claim):
        is_going = volume.metadata.deletion_timestamp is not None
        return [steps.Wait()] if is_going else _bind(claim, volume)
    message = f'volume "{volume.metadata.name}" already bound to a different claim.'
    return [steps.Wait(), steps.Tell("FailedBinding", message, is_warning=True)]


def _unbound(claim: PersistentVolumeClaim, seen: Seen) -> list[steps.ClaimStep]:
    name = claims.class_of(claim)
    made_by = seen.classes.get(name)
    is_delayed = claims.is_delayed(made_by)
    volume = claims.best(claim, seen.volumes.values(), is_delayed=is_delayed)
    if volume is not None:
        return _bind(claim, volume)
    if not name:
        usual = default_class(seen.classes.values())
        if claim.spec.storage_class_name is None and usual:
            return [steps.Classify(usual)]
        return [steps.Wait(), _NO_CLASS]
    if made_by is None:
        message = f'storageclass.storage.k8s.io "{name}" not found'
        return [steps.Wait(), steps.Tell("ProvisioningFailed", message, is_warning=True)]
    node = claim.metadata.annotations.get(claims.SELECTED_NODE, "")
    if is_delayed and not node:
        return [steps.Wait(), _waits_for(seen.waiting_pods.get(Key.of(claim)))]
    return _new(claim, made_by, node, seen)


def _waits_for(pod: str | None) -> steps.Tell:
    if pod is None:
        return _FIRST_CONSUMER
    return steps.Tell("WaitForPodScheduled", f"waiting for pod {pod} to be scheduled")


def _new(
    claim: PersistentVolumeClaim, made_by: StorageClass, node: str, seen: Seen
) -> list[steps.ClaimStep]:
    name = made_by.metadata.name
    if made_by.provisioner == PROVISIONER:
        if why := _not_made(claim, seen):
            message = f'failed to provision volume with StorageClass "{name}": {why}'
            return [steps.Wait(), steps.Tell("ProvisioningFailed", message, is_warning=True)]
        key = sources.claim_copied(claim)
        if key is None or Key.of(claim) in seen.made:
            return [steps.Provision(node)]
        return [steps.Wait(), steps.Copy(seen.claims[key])]
    if made_by.provisioner == claims.NO_PROVISIONER:
        message = f"no persistent volumes available for this claim, and class {name} makes none"
        return [steps.Wait(), steps.Tell("FailedBinding", message)]
    message = (
        "Waiting for a volume to be created either by the external provisioner "
        f"'{made_by.provisioner}' or manually by the system administrator. If volume creation is delayed, "
        "please verify that the provisioner is running and correctly registered."
    )
    return [steps.Wait(), steps.Tell("ExternalProvisioning", message)]


def _not_made(claim: PersistentVolumeClaim, seen: Seen) -> str:
    """What a new folder cannot be."""
    if claim.spec.selector is not None:
        return "claim Selector is not supported"
    if Key.of(claim) in seen.made:
        return ""
    return sources.trouble(claim, seen.claims, seen.volumes, seen.used)


def _bind(claim: PersistentVolumeClaim, volume: PersistentVolume) -> list[steps.ClaimStep]:
    return [] if is_complete(claim, volume) else [steps.Bind(volume)]


def is_complete(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Both say that they belong together, and are held."""
    reference = volume.spec.claim_ref
    return (
        reference is not None
        and reference.uid == claim.metadata.uid
        and VOLUME_PROTECTION in volume.metadata.finalizers
        and is_claim_complete(claim, volume)
        and claim.status.phase == "Bound"
    )


def is_claim_complete(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    return (
        claim.spec.volume_name == volume.metadata.name
        and BIND_COMPLETED in claim.metadata.annotations
        and CLAIM_PROTECTION in claim.metadata.finalizers
    )


def _grow(
    claim: PersistentVolumeClaim, volume: PersistentVolume, seen: Seen
) -> list[steps.ClaimStep]:
    made_by = seen.classes.get(claims.class_of(claim))
    if made_by is None or not made_by.allow_volume_expansion or not is_ours(volume):
        return []
    wanted, shown = claims.size(claim), claim.status.capacity.get("storage", "0")
    is_small = claims.capacity(volume) < wanted or Quantity.from_json(shown) < wanted
    return [steps.Grow(volume, str(wanted))] if is_small and claim.status.phase == "Bound" else []


# Volumes


def for_volume(volume: PersistentVolume, seen: Seen) -> list[steps.VolumeStep]:
    if volume.metadata.deletion_timestamp is not None:
        return _going(volume, seen)
    reference = volume.spec.claim_ref
    if reference is None or not reference.uid:
        return _show(volume, "Available")
    claim = _claim_of(volume, seen)
    if claim is None:
        return _released(volume)
    if not claim.spec.volume_name:
        return []  # the claim is about to say so, too
    if claim.spec.volume_name == volume.metadata.name:
        return _show(volume, "Bound")
    # The claim has another one by now.
    if is_ours(volume) and volume.spec.persistent_volume_reclaim_policy == "Delete":
        return _released(volume)
    return [steps.Free()]


def _going(volume: PersistentVolume, seen: Seen) -> list[steps.VolumeStep]:
    """A volume that was deleted stays while a claim has it. Its data goes with it, if that is its policy."""
    claim = _claim_of(volume, seen)
    is_bound = claim is not None and claim.spec.volume_name == volume.metadata.name
    if VOLUME_PROTECTION not in volume.metadata.finalizers or is_bound:
        return []
    is_data_to_go = is_ours(volume) and volume.spec.persistent_volume_reclaim_policy == "Delete"
    return [steps.Reclaim()] if is_data_to_go else [steps.Unprotect()]


def _released(volume: PersistentVolume) -> list[steps.VolumeStep]:
    policy = volume.spec.persistent_volume_reclaim_policy or "Retain"
    if policy == "Retain":
        return _show(volume, "Released")
    if policy == "Delete" and is_ours(volume):
        return [*_show(volume, "Released"), steps.Reclaim()]
    message = f"nobody here can do what the reclaim policy {policy} asks for this volume; delete it by hand"
    shown = _show(volume, "Failed", message)
    return [*shown, steps.Tell("VolumeFailedDelete", message, is_warning=True)] if shown else []


def _show(volume: PersistentVolume, phase: str, message: str = "") -> list[steps.VolumeStep]:
    is_shown = volume.status.phase == phase and (volume.status.message or "") == message
    return [] if is_shown else [steps.Show(phase, message)]


def _claim_of(volume: PersistentVolume, seen: Seen) -> PersistentVolumeClaim | None:
    """By identity: another claim of the same name is another claim."""
    reference = volume.spec.claim_ref
    if reference is None:
        return None
    claim = seen.claims.get(Key(reference.namespace or "", reference.name or ""))
    is_same = claim is not None and reference.uid in (None, "", claim.metadata.uid)
    return claim if is_same else None
