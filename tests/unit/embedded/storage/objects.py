"""Claims, volumes and classes, in few words."""

from typing import Any

import msgspec

from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.embedded.storage.decide import Seen
from kubevirt.kube.key import Key


def a_claim(
    name: str = "data", size: str = "1Gi", *, metadata: dict[str, Any] | None = None, **spec: Any
) -> PersistentVolumeClaim:
    status = spec.pop("status", {"phase": "Pending"})
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "home",
                "uid": f"uid-{name}",
                **(metadata or {}),
            },
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": size}},
                "storageClassName": "local",
                **spec,
            },
            "status": status,
        },
        PersistentVolumeClaim,
    )


def a_volume(
    name: str = "one", size: str = "1Gi", *, metadata: dict[str, Any] | None = None, **spec: Any
) -> PersistentVolume:
    status = spec.pop("status", {"phase": "Available"})
    return msgspec.convert(
        {
            "metadata": {"name": name, "uid": f"uid-{name}", **(metadata or {})},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": size},
                "hostPath": {"path": f"/data/{name}"},
                "storageClassName": "local",
                **spec,
            },
            "status": status,
        },
        PersistentVolume,
    )


def a_class(name: str = "local", **more: Any) -> StorageClass:
    given = {"provisioner": "kubevirt.io/local-folder", "volumeBindingMode": "Immediate", **more}
    return msgspec.convert({"metadata": {"name": name}, **given}, StorageClass)


def seen(*things: PersistentVolumeClaim | PersistentVolume | StorageClass, **more: Any) -> Seen:
    return Seen(
        claims={Key.of(each): each for each in things if isinstance(each, PersistentVolumeClaim)},
        volumes={each.metadata.name: each for each in things if isinstance(each, PersistentVolume)},
        classes={each.metadata.name: each for each in things if isinstance(each, StorageClass)},
        **more,
    )


def owner(claim: str, uid: str | None = None) -> dict[str, str]:
    return {"namespace": "home", "name": claim, "uid": f"uid-{claim}" if uid is None else uid}


OURS = {"annotations": {"pv.kubernetes.io/provisioned-by": "kubevirt.io/local-folder"}}
HELD = {"finalizers": ["kubernetes.io/pv-protection"]}
BOUND = {
    "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
    "finalizers": ["kubernetes.io/pvc-protection"],
}
GOING = {"deletionTimestamp": "2030-01-01T00:00:00Z"}
