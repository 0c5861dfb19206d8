"""Volumes, claims and classes that speak of what is no more."""

from collections.abc import Iterator
from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.registry.warnings import labels
from kubevirt.base.quantity import Quantity

GONE: Final = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
"""Sources of volumes, as they are called in JSON."""
_CLASS_OF_OLD: Final = "volume.beta.kubernetes.io/storage-class"
_OF_OLD: Final = {
    _CLASS_OF_OLD: 'deprecated since v1.8; use "storageClassName" attribute instead',
    "volume.beta.kubernetes.io/mount-options": (
        'deprecated since v1.31; use "mountOptions" attribute instead'
    ),
}
"""Annotations that have become fields."""
_RECYCLING: Final = (
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated."
    " Instead, the recommended approach is to use dynamic provisioning."
)
_SAID_OF_VOLUMES: Final = (
    "cephfs",
    "photonPersistentDisk",
    "scaleIO",
    "storageos",
    "glusterfs",
    "rbd",
)


def fractions(amounts: Object | None, path: str, *kinds: str) -> Iterator[str]:
    """Of bytes, which there are not."""
    for kind in kinds:
        said = (amounts or {}).get(kind)
        if said is None:
            continue
        quantity = Quantity.from_json(said)
        if quantity.milli_value() % 1000:
            words = f'fractional byte value "{quantity}" is invalid, must be an integer'
            yield f"{path}[{kind}]: {words}"


def of_claim(new: Object, _: Object | None) -> Iterator[str]:
    yield from _of_annotations(new, _CLASS_OF_OLD)
    yield from of_claim_spec(new["spec"], "spec")


def of_claim_spec(spec: Object, path: str) -> Iterator[str]:
    resources = spec.get("resources") or {}
    for said in ("requests", "limits"):
        yield from fractions(resources.get(said), f"{path}.resources.{said}", "storage")


def of_volume(new: Object, _: Object | None) -> Iterator[str]:
    spec = new["spec"]
    yield from _of_annotations(new, *_OF_OLD)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield _RECYCLING
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    yield from labels.of_terms(terms, "spec.nodeAffinity.required.nodeSelectorTerms")
    for source in _SAID_OF_VOLUMES:
        if spec.get(source) is not None:
            yield f"spec.{'storageOS' if source == 'storageos' else source}: {GONE[source]}"


def of_class(new: Object, _: Object | None) -> Iterator[str]:
    for at, topology in enumerate(new.get("allowedTopologies") or ()):
        for index, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            where = f"allowedTopologies[{at}].matchLabelExpressions[{index}].key"
            yield from labels.of_key(expression.get("key", ""), where)


def _of_annotations(new: Object, *known: str) -> Iterator[str]:
    said = new["metadata"].get("annotations") or {}
    yield from (f"metadata.annotations[{each}]: {_OF_OLD[each]}" for each in known if each in said)
