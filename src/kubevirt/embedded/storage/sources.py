"""Where the data of a new volume comes from: from nowhere, or from another claim, in the words of Kubernetes' CSI
provisioner. Pure.
"""

from collections.abc import Collection, Mapping
from typing import Final

from kubevirt.api.core.references import TypedLocalObjectReference, TypedObjectReference
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim
from kubevirt.embedded.objects import claims
from kubevirt.embedded.storage.classes import is_ours
from kubevirt.kube.key import Key

_CLAIM: Final = "PersistentVolumeClaim"
UNBOUND: Final = "claim in dataSource not bound or invalid"


def named(
    claim: PersistentVolumeClaim,
) -> TypedObjectReference | TypedLocalObjectReference | None:
    """The newer field says more, where both are there."""
    return claim.spec.data_source_ref or claim.spec.data_source


def claim_copied(claim: PersistentVolumeClaim) -> Key | None:
    """The claim that this one is to be a copy of."""
    source = named(claim)
    if source is None or source.kind != _CLAIM or source.api_group:
        return None
    return Key(claim.metadata.namespace or "", source.name)


def trouble(
    claim: PersistentVolumeClaim,
    found: Mapping[Key, PersistentVolumeClaim],
    volumes: Mapping[str, PersistentVolume],
    used: Collection[Key],
) -> str:
    """Why a volume cannot be made from what the claim names, or not now; empty if it can."""
    source = named(claim)
    if source is None:
        return ""
    key = claim_copied(claim)
    if key is None:
        return f"a volume cannot be made from a {source.kind} here; name a {_CLAIM}, or start from an empty volume"
    elsewhere = source.namespace if isinstance(source, TypedObjectReference) else None
    if elsewhere and elsewhere != key.namespace:
        return f"a claim is copied within its namespace only, and dataSourceRef names {elsewhere}"
    why = _misfit(claim, key, found.get(key), volumes, is_used=key in used)
    return why and cannot(key, why)


def cannot(key: Key, why: str) -> str:
    return f"error getting handle for DataSource Type {_CLAIM} by Name {key.name}: {why}"


def going(key: Key) -> str:
    return f"the PVC DataSource {key.name} is currently being deleted"


def in_use(key: Key) -> str:
    """Kubernetes leaves this to the driver. Ours copies files, and half of one may be old by then."""
    return f"the PVC DataSource {key.name} is in use by a pod"


def _misfit(
    claim: PersistentVolumeClaim,
    key: Key,
    copied: PersistentVolumeClaim | None,
    volumes: Mapping[str, PersistentVolume],
    *,
    is_used: bool,
) -> str:
    if copied is None:
        missing = f'persistentvolumeclaim "{key.name}" not found'
        return (
            f'error getting PVC {key.name} (namespace "{key.namespace}") from api server: {missing}'
        )
    if copied.status.phase != "Bound":
        phase = copied.status.phase or "Pending"
        return f"the PVC DataSource {key.name} must have a status of Bound.  Got {phase}"
    if copied.metadata.deletion_timestamp is not None:
        return going(key)
    asked, had = claims.size(claim).value(), claims.size(copied).value()
    if asked < had:
        return (
            "error, new PVC request must be greater than or equal in size to the specified PVC data source, "
            f"requested {asked} but source is {had}"
        )
    volume = volumes.get(copied.spec.volume_name or "")
    if volume is None or volume.status.phase != "Bound" or not _is_of(volume, copied):
        return UNBOUND
    asked_mode, had_mode = (claims.mode(each.spec.volume_mode) for each in (claim, volume))
    if asked_mode != had_mode:
        return (
            "the source PVC and destination PVCs must have the same volume mode for cloning.  "
            f"Source is {had_mode}, but new PVC requested {asked_mode}"
        )
    return in_use(key) if is_used else ""


def _is_of(volume: PersistentVolume, copied: PersistentVolumeClaim) -> bool:
    owner = volume.spec.claim_ref
    return (
        is_ours(volume)
        and owner is not None
        and (owner.namespace, owner.name, owner.uid)
        == (copied.metadata.namespace, copied.metadata.name, copied.metadata.uid)
    )
