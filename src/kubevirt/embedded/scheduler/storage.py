"""Claims on storage as decisions need them, and what is to be done for those that wait for a pod.

A claim that is bound ties its pod to the nodes that its volume can be had on. One that waits for its first
consumer is the other way round: the node comes first, then a volume that is there already and fits, or one
made for that node.
"""

from collections.abc import Iterator, Mapping

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.embedded.objects import claims
from kubevirt.embedded.objects.pods import spec_of

ClaimKey = tuple[str, str]
"""Namespace and name."""


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    claims: Mapping[ClaimKey, PersistentVolumeClaim] = {}
    volumes: Mapping[str, PersistentVolume] = {}
    classes: Mapping[str, StorageClass] = {}
    promised: Mapping[str, str] = {}
    """Volumes that decisions have given away and the server does not show so yet: to which claim, by uid."""


class Take(msgspec.Struct, frozen=True):
    """A volume that is there already."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


class Provide(msgspec.Struct, frozen=True):
    """A volume that somebody has to make for the node that was chosen."""

    claim: PersistentVolumeClaim


Step = Take | Provide


def claim_keys(pod: Pod) -> list[ClaimKey]:
    return [
        (pod.metadata.namespace or "", each.persistent_volume_claim.claim_name)
        for each in spec_of(pod).volumes
        if each.persistent_volume_claim
    ]


def trouble(pod: Pod, storage: Storage) -> str | None:
    """Why no node at all will do, whatever the nodes are like."""
    is_waited_for = False
    for key in claim_keys(pod):
        claim = storage.claims.get(key)
        if claim is None:
            return f'persistentvolumeclaim "{key[1]}" not found'
        if claim.status.phase == "Lost":
            volume = claim.spec.volume_name or ""
            return f'persistentvolumeclaim "{key[1]}" bound to non-existent persistentvolume "{volume}"'
        if claim.metadata.deletion_timestamp:
            return f'persistentvolumeclaim "{key[1]}" is being deleted'
        is_waited_for = is_waited_for or not (claims.is_bound(claim) or _waits(claim, storage))
    return "pod has unbound immediate PersistentVolumeClaims" if is_waited_for else None


def exclusive(pod: Pod, storage: Storage) -> set[ClaimKey]:
    """Claims of the pod that no second pod may use."""
    return {
        key
        for key in claim_keys(pod)
        if (claim := storage.claims.get(key)) and "ReadWriteOncePod" in claim.spec.access_modes
    }


def reasons(pod: Pod, node: Node, storage: Storage) -> Iterator[str]:
    """Why the pod's volumes cannot be had on a node."""
    used = [storage.claims[key] for key in claim_keys(pod) if key in storage.claims]
    volumes = [
        storage.volumes.get(each.spec.volume_name or "") for each in used if claims.is_bound(each)
    ]
    if any(volume is not None and not claims.is_at(volume, node) for volume in volumes):
        yield "node(s) didn't match PersistentVolume's node affinity"
    if steps(pod, node, storage) is None:
        yield "node(s) didn't find available persistent volumes to bind"
    if None in volumes:
        yield "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def steps(pod: Pod, node: Node, storage: Storage) -> list[Step] | None:
    """What gives each waiting claim of the pod its volume on a node; None if nothing does."""
    found: list[Step] = []
    taken: set[str] = set()
    for claim in sorted(_unbound(pod, storage), key=claims.size):
        step = _step(claim, node, storage, taken)
        if step is None:
            return None
        if isinstance(step, Take):
            taken.add(step.volume.metadata.name)
        found.append(step)
    return found


def _unbound(pod: Pod, storage: Storage) -> list[PersistentVolumeClaim]:
    """Each once, however often the pod names it."""
    used = (storage.claims.get(key) for key in dict.fromkeys(claim_keys(pod)))
    return [each for each in used if each is not None and not claims.is_bound(each)]


def _step(
    claim: PersistentVolumeClaim, node: Node, storage: Storage, taken: set[str]
) -> Step | None:
    selected = claim.metadata.annotations.get(claims.SELECTED_NODE)
    if selected is not None and selected != node.metadata.name:
        return None
    if selected is None and (volume := _match(claim, node, storage, taken)):
        return Take(claim, volume)
    made_by = storage.classes.get(claims.class_of(claim))
    return Provide(claim) if made_by and _can_provide(made_by, node) else None


def _waits(claim: PersistentVolumeClaim, storage: Storage) -> bool:
    """For a pod, before it has a volume."""
    made_by = storage.classes.get(claims.class_of(claim))
    return claims.is_delayed(made_by) and not claim.spec.volume_name


def _can_provide(made_by: StorageClass, node: Node) -> bool:
    if made_by.provisioner in ("", claims.NO_PROVISIONER):
        return False
    labels = node.metadata.labels
    topologies = made_by.allowed_topologies
    return not topologies or any(
        all(labels.get(each.key) in each.values for each in term.match_label_expressions)
        for term in topologies
    )


def _match(
    claim: PersistentVolumeClaim, node: Node, storage: Storage, taken: set[str]
) -> PersistentVolume | None:
    """A volume that is there already, and that no decision has given away."""
    left = (
        each
        for each in storage.volumes.values()
        if each.metadata.name not in taken
        and storage.promised.get(each.metadata.name) in (None, claim.metadata.uid)
    )
    return claims.best(claim, left, node=node)
