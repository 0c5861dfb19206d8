"""Claims on storage: what they say, and which volume each can have.

Two ask that of the same claims: storage, which binds, and the scheduler, which says where first if binding is
delayed. They have to find the same, so they ask here.
"""

from collections.abc import Iterable
from typing import Final

from kubevirt.api.core.node import Node
from kubevirt.api.core.references import ObjectReference
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.base.quantity import ZERO, Quantity
from kubevirt.embedded.objects.selecting import selects, term_selects

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
_OF_OLD: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_MODE: Final = "Filesystem"
_DELAYED: Final = "WaitForFirstConsumer"


# What they say


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """A claim that only names its volume still waits for that volume to agree."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def is_delayed(made_by: StorageClass | None) -> bool:
    """Whether claims of a class wait until a node is chosen for the first pod that wants them."""
    return made_by is not None and made_by.volume_binding_mode == _DELAYED


def class_of(thing: PersistentVolumeClaim | PersistentVolume) -> str:
    """As it was said before there was a field, should it be said so; empty for none."""
    of_old = thing.metadata.annotations.get(_OF_OLD)
    return of_old if of_old is not None else thing.spec.storage_class_name or ""


def mode(said: str | None) -> str:
    return said or _DEFAULT_MODE


def capacity(volume: PersistentVolume) -> Quantity:
    found = volume.spec.capacity.get("storage")
    return ZERO if found is None else Quantity.from_json(found)


def size(claim: PersistentVolumeClaim) -> Quantity:
    asked = claim.spec.resources
    found = asked.requests.get("storage") if asked else None
    return ZERO if found is None else Quantity.from_json(found)


def is_for(reference: ObjectReference | None, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is meant for this very claim, or for the first one of its name."""
    return (
        reference is not None
        and reference.name == claim.metadata.name
        and reference.namespace == claim.metadata.namespace
        and reference.uid in (None, "", claim.metadata.uid)
    )


def is_at(volume: PersistentVolume, node: Node) -> bool:
    """Whether pods on a node can have it."""
    affinity = volume.spec.node_affinity
    asked = affinity.required if affinity else None
    return asked is None or any(term_selects(each, node) for each in asked.node_selector_terms)


# Which go together


def best(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    *,
    node: Node | None = None,
    is_delayed: bool = False,
) -> PersistentVolume | None:
    """The one that was made for the claim, or the smallest that will do. With a node, it has to be one that can
    be had there. If binding is delayed and no node is chosen yet, only the first will do.
    """
    possible = [each for each in volumes if _could_hold(each, claim)]
    if meant := [each for each in possible if is_for(each.spec.claim_ref, claim)]:
        # No other will do then, not even where this one cannot be had.
        return min(_at(node, meant), key=_size, default=None)
    if is_delayed and node is None:
        return None
    free = [each for each in possible if _is_free(each) and _is_picked(each, claim)]
    # Before a node is chosen, what is closest to what was asked for comes first, as in Kubernetes: the claim
    # that needs a volume which many can write finds it later.
    return min(_at(node, free), key=_size if node else _excess, default=None)


def misfit(claim: PersistentVolumeClaim, volume: PersistentVolume) -> str:
    """Why a volume that the claim names will not do, in Kubernetes' words; empty if it will. Labels do not count:
    who names a volume has picked it.
    """
    if volume.metadata.deletion_timestamp is not None:
        return f'the volume is marked for deletion "{volume.metadata.name}"'
    if capacity(volume) < size(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if not _is_mode_same(volume, claim):
        return "incompatible volumeMode"
    if not _is_access_enough(volume, claim):
        return "incompatible accessMode"
    return ""


def _could_hold(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """What holds even for a volume that was made for the claim. Its class and labels do not count then."""
    return (
        volume.metadata.deletion_timestamp is None
        and capacity(volume) >= size(claim)
        and _is_mode_same(volume, claim)
        and _is_access_enough(volume, claim)
    )


def _is_picked(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    selector = claim.spec.selector
    is_of_class = class_of(volume) == class_of(claim)
    return is_of_class and (selector is None or selects(selector, volume.metadata.labels))


def _is_free(volume: PersistentVolume) -> bool:
    """One that is not shown so yet is about to be, and then it is looked at again."""
    return volume.spec.claim_ref is None and volume.status.phase == "Available"


def _is_mode_same(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return mode(volume.spec.volume_mode) == mode(claim.spec.volume_mode)


def _is_access_enough(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


def _at(node: Node | None, volumes: Iterable[PersistentVolume]) -> Iterable[PersistentVolume]:
    return (each for each in volumes if node is None or is_at(each, node))


def _size(volume: PersistentVolume) -> tuple[Quantity, str]:
    return capacity(volume), volume.metadata.name


def _excess(volume: PersistentVolume) -> tuple[int, Quantity, str]:
    return (len(set(volume.spec.access_modes)), *_size(volume))
