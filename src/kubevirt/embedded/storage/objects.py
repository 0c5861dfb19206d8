"""Objects as storage writes them: new volumes, and the parts of claims and volumes that bind them. Pure."""

from datetime import datetime
from pathlib import Path
from typing import Any, Final

from kubevirt.api.core.references import ObjectReference
from kubevirt.api.core.scheduling import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubevirt.api.core.storage import (
    LocalVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    StorageClass,
    VolumeNodeAffinity,
)
from kubevirt.api.meta import ObjectMeta
from kubevirt.embedded.objects import claims
from kubevirt.embedded.storage import decide
from kubevirt.embedded.storage.classes import PROVISIONED_BY, PROVISIONER, is_ours

_HOSTNAME: Final = "kubernetes.io/hostname"
_OF_MANY: Final = {"ReadWriteMany", "ReadOnlyMany"}
_MADE_BY: Final = (
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
)


def volume_name(claim: PersistentVolumeClaim) -> str:
    """The same for the same claim, so that what a crash left is found again."""
    return f"pvc-{claim.metadata.uid}"


def new_volume(
    claim: PersistentVolumeClaim, made_by: StorageClass, node: str, path: Path
) -> PersistentVolume:
    return PersistentVolume(
        metadata=ObjectMeta(
            name=volume_name(claim),
            annotations={PROVISIONED_BY: PROVISIONER},
            finalizers=(decide.VOLUME_PROTECTION,),
        ),
        spec=PersistentVolumeSpec(
            access_modes=claim.spec.access_modes,
            capacity={"storage": str(claims.size(claim))},
            claim_ref=reference(claim),
            local=LocalVolumeSource(path=str(path)),
            node_affinity=_affinity(claim, node),
            persistent_volume_reclaim_policy=made_by.reclaim_policy or "Delete",
            storage_class_name=made_by.metadata.name,
            volume_mode=claims.mode(claim.spec.volume_mode),
            mount_options=made_by.mount_options,
        ),
    )


def reference(claim: PersistentVolumeClaim) -> ObjectReference:
    return ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        uid=claim.metadata.uid,
        resource_version=claim.metadata.resource_version,
    )


def _affinity(claim: PersistentVolumeClaim, node: str) -> VolumeNodeAffinity:
    """The node that was chosen. All nodes of a home are on one machine, so what many may use, or what
    was made before any node was chosen, can be had on all of them.
    """
    is_anywhere = not node or _OF_MANY & set(claim.spec.access_modes)
    asked = (
        NodeSelectorRequirement(key=_HOSTNAME, operator="Exists")
        if is_anywhere
        else NodeSelectorRequirement(key=_HOSTNAME, operator="In", values=(node,))
    )
    terms = (NodeSelectorTerm(match_expressions=(asked,)),)
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


# Parts, as merge patches. A version in them makes the write fail if somebody else was first.


def volume_of(claim: PersistentVolumeClaim, volume: PersistentVolume) -> dict[str, Any]:
    """For the volume: whose it is."""
    is_chosen = volume.spec.claim_ref is None
    annotations = {decide.BOUND_BY_CONTROLLER: "yes"} if is_chosen else {}
    return {
        "metadata": {
            "resourceVersion": volume.metadata.resource_version,
            "finalizers": with_one(volume.metadata.finalizers, decide.VOLUME_PROTECTION),
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": {"claimRef": reference(claim)},
    }


def claim_on(claim: PersistentVolumeClaim, volume: PersistentVolume) -> dict[str, Any]:
    """For the claim: which volume it has. It is protected from now on, since pods may use it."""
    annotations = {claims.BIND_COMPLETED: "yes"}
    if not claim.spec.volume_name:
        annotations[decide.BOUND_BY_CONTROLLER] = "yes"
    if is_ours(volume):
        annotations |= dict.fromkeys(_MADE_BY, PROVISIONER)
    return {
        "metadata": {
            "resourceVersion": claim.metadata.resource_version,
            "finalizers": with_one(claim.metadata.finalizers, decide.CLAIM_PROTECTION),
            "annotations": annotations,
        },
        "spec": {"volumeName": volume.metadata.name},
    }


def bound_status(volume: PersistentVolume) -> dict[str, Any]:
    return {
        "phase": "Bound",
        "accessModes": list(volume.spec.access_modes),
        "capacity": dict(volume.spec.capacity),
    }


def phase(name: str, message: str, now: datetime) -> dict[str, Any]:
    since = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    return {"phase": name, "message": message or None, "lastPhaseTransitionTime": since}


def without(finalizers: tuple[str, ...], name: str) -> list[str]:
    return [each for each in finalizers if each != name]


def with_one(finalizers: tuple[str, ...], name: str) -> list[str]:
    return [*finalizers, *(() if name in finalizers else (name,))]
