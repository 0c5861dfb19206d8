"""Tables of volumes, claims and storage classes."""

from typing import Any, Final

from kubevirt.apiserver.kinds.columns.cells import Object, access_modes, age_of, at

CLAIM_HEADER: Final = (
    "Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, "
    "+VolumeMode"
)
VOLUME_HEADER: Final = (
    "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, "
    "VolumeAttributesClass, Reason, Age, +VolumeMode"
)
CLASS_HEADER: Final = (
    "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age"
)
_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_UNSET: Final = "<unset>"


def claim(object_: Object, now: float) -> list[Any]:
    spec, status = object_.get("spec", {}), object_.get("status", {})
    is_bound = bool(spec.get("volumeName"))
    going = object_["metadata"].get("deletionTimestamp")
    return [
        at(object_, "metadata", "name"),
        "Terminating" if going else status.get("phase", ""),
        spec.get("volumeName", ""),
        str(at(status, "capacity", "storage")) if is_bound else "",
        access_modes(status.get("accessModes") or []) if is_bound else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or _UNSET,
        age_of(object_, now),
        spec.get("volumeMode") or _UNSET,
    ]


def volume(object_: Object, now: float) -> list[Any]:
    spec, status = object_.get("spec", {}), object_.get("status", {})
    owner = spec.get("claimRef") or {}
    going = object_["metadata"].get("deletionTimestamp")
    return [
        at(object_, "metadata", "name"),
        str(at(spec, "capacity", "storage")),
        access_modes(spec.get("accessModes") or []),
        spec.get("persistentVolumeReclaimPolicy", ""),
        "Terminating" if going else status.get("phase", ""),
        f"{owner.get('namespace', '')}/{owner.get('name', '')}" if owner else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or _UNSET,
        status.get("reason", ""),
        age_of(object_, now),
        spec.get("volumeMode") or _UNSET,
    ]


def storage_class(object_: Object, now: float) -> list[Any]:
    name = at(object_, "metadata", "name")
    is_default = (object_["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    return [
        f"{name} (default)" if is_default else name,
        object_.get("provisioner", ""),
        object_.get("reclaimPolicy", "Delete"),
        object_.get("volumeBindingMode", "Immediate"),
        bool(object_.get("allowVolumeExpansion")),
        age_of(object_, now),
    ]
