"""Which volume a claim can have. Pure."""

from collections.abc import Iterable
from typing import Final

from kubevirt.api.core.references import ObjectReference
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim
from kubevirt.base.quantity import ZERO, Quantity
from kubevirt.embedded.scheduler.selecting import selects

_OF_OLD: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_MODE: Final = "Filesystem"


def best(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, is_delayed: bool
) -> PersistentVolume | None:
    """The one that was made for the claim, or the smallest that will do. If binding is delayed, whoever
    places the pod says which; until then only the first.
    """
    fitting = [each for each in volumes if not misfit(claim, each) and _is_free(each, claim)]
    meant = [each for each in fitting if each.spec.claim_ref is not None]
    if is_delayed:
        return min(meant, key=_order, default=None)
    return min(meant or fitting, key=_order, default=None)


def misfit(claim: PersistentVolumeClaim, volume: PersistentVolume) -> str:
    """Why a volume will not do for a claim, in Kubernetes' words; empty if it will."""
    if capacity(volume) < size(claim):
        return "requested PV is too small"
    if class_of_volume(volume) != class_of(claim):
        return "storageClassName does not match"
    if mode(volume.spec.volume_mode) != mode(claim.spec.volume_mode):
        return "incompatible volumeMode"
    if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
        return "incompatible accessMode"
    selector = claim.spec.selector
    if selector is not None and not selects(selector, volume.metadata.labels):
        return "the selector does not pick it"
    return ""


def is_for(reference: ObjectReference | None, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is meant for this very claim, or for the first one of its name."""
    return (
        reference is not None
        and reference.name == claim.metadata.name
        and reference.namespace == claim.metadata.namespace
        and reference.uid in (None, "", claim.metadata.uid)
    )


def class_of(claim: PersistentVolumeClaim) -> str:
    return claim.metadata.annotations.get(_OF_OLD) or claim.spec.storage_class_name or ""


def class_of_volume(volume: PersistentVolume) -> str:
    return volume.metadata.annotations.get(_OF_OLD) or volume.spec.storage_class_name or ""


def mode(said: str | None) -> str:
    return said or _DEFAULT_MODE


def capacity(volume: PersistentVolume) -> Quantity:
    found = volume.spec.capacity.get("storage")
    return ZERO if found is None else Quantity.from_json(found)


def size(claim: PersistentVolumeClaim) -> Quantity:
    asked = claim.spec.resources
    found = asked.requests.get("storage") if asked else None
    return ZERO if found is None else Quantity.from_json(found)


def _is_free(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    if volume.metadata.deletion_timestamp is not None:
        return False
    if volume.spec.claim_ref is not None:
        return is_for(volume.spec.claim_ref, claim)
    return volume.status.phase in (None, "", "Pending", "Available")


def _order(volume: PersistentVolume) -> tuple[Quantity, str]:
    return capacity(volume), volume.metadata.name
