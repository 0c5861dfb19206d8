"""The storage classes that the home brings. What a user changes in them stays changed."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from kubevirt.api.core.storage import PersistentVolume, StorageClass
from kubevirt.api.meta import ObjectMeta

PROVISIONER: Final = "kubevirt.io/local-folder"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
DEFAULT: Final = "local"
IMMEDIATE: Final = "local-immediate"
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_IS_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"


def classes() -> Sequence[StorageClass]:
    """The default one waits for a pod, so that the volume is made on the pod's node."""
    return (
        _one(DEFAULT, "WaitForFirstConsumer", is_default=True),
        _one(IMMEDIATE, "Immediate", is_default=False),
    )


def default_class(found: Iterable[StorageClass]) -> str:
    """The youngest, should there be several; empty if there is none."""
    marked = [
        each.metadata for each in found if each.metadata.annotations.get(_IS_DEFAULT) == "true"
    ]
    by_age = sorted(marked, key=lambda each: each.name)
    by_age.sort(key=lambda each: each.creation_timestamp or _LONG_AGO)
    return by_age[-1].name if by_age else ""


def is_ours(volume: PersistentVolume) -> bool:
    """Whether it was made for one of them; it may only say so."""
    return volume.metadata.annotations.get(PROVISIONED_BY) == PROVISIONER


def _one(name: str, binding: str, *, is_default: bool) -> StorageClass:
    annotations = {_IS_DEFAULT: "true"} if is_default else {}
    return StorageClass(
        metadata=ObjectMeta(name=name, annotations=annotations),
        provisioner=PROVISIONER,
        reclaim_policy="Delete",
        volume_binding_mode=binding,
        allow_volume_expansion=True,
    )
