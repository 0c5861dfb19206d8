"""Pods as storage sees them: which claims they use. Nothing else of them is kept."""

from collections.abc import Iterator

from kubevirt.api.core.pod_volumes import PersistentVolumeClaimVolumeSource
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.scheme import PODS
from kubevirt.api.struct import Struct
from kubevirt.kube.key import Key


class UsedVolume(Struct, frozen=True, kw_only=True):
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None


class UserSpec(Struct, frozen=True, kw_only=True):
    node_name: str | None = None
    volumes: tuple[UsedVolume, ...] = ()


class UserStatus(Struct, frozen=True, kw_only=True):
    phase: str | None = None


class User(Struct, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: UserSpec = UserSpec()
    status: UserStatus = UserStatus()


USERS = PODS.read_as(User)


def claims(pod: User) -> Iterator[Key]:
    for volume in pod.spec.volumes:
        if (claim := volume.persistent_volume_claim) is not None:
            yield Key(pod.metadata.namespace or "", claim.claim_name)


def holds(pod: User) -> bool:
    """Whether it keeps its claims: it is on a node and has not ended."""
    return bool(pod.spec.node_name) and pod.status.phase not in ("Succeeded", "Failed")


def waits(pod: User) -> bool:
    return not pod.spec.node_name and pod.metadata.deletion_timestamp is None
