"""Pods and nodes in few words."""

from typing import Any

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.embedded.scheduler.cluster import Cluster, Place
from kubevirt.embedded.scheduler.storage import Storage


def a_node(name: str = "one", **more: Any) -> Node:
    """With two processors, 4 GiB and room for ten pods, unless `more` says otherwise."""
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "labels": {"kubernetes.io/hostname": name, **more.get("labels", {})},
            },
            "spec": more.get("spec", {}),
            "status": {
                "allocatable": {
                    "cpu": "2",
                    "memory": "4Gi",
                    "pods": "10",
                    **more.get("allocatable", {}),
                }
            },
        },
        Node,
    )


def a_pod(name: str = "pod", *, labels: dict[str, str] | None = None, **spec: Any) -> Pod:
    requests = spec.pop("requests", {})
    container = {"name": "main", "resources": {"requests": requests}, **spec.pop("container", {})}
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "home",
                "uid": f"uid-of-{name}",
                "labels": labels or {},
            },
            "spec": {"containers": [container], **spec},
        },
        Pod,
    )


def using(*claims: str) -> dict[str, Any]:
    """The volumes of a pod that uses these claims."""
    volumes = [
        {"name": f"v-{name}", "persistentVolumeClaim": {"claimName": name}} for name in claims
    ]
    return {"volumes": volumes}


def a_claim(name: str, storage_class: str, **more: Any) -> PersistentVolumeClaim:
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "home",
                "uid": f"uid-of-{name}",
                **more.pop("metadata", {}),
            },
            "status": more.pop("status", {}),
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage_class,
                "resources": {"requests": {"storage": more.pop("size", "1Gi")}},
                **more,
            },
        },
        PersistentVolumeClaim,
    )


def a_volume(name: str, storage_class: str, node: str = "", **more: Any) -> PersistentVolume:
    """On one node only, if that is named."""
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [here]}]}
    return msgspec.convert(
        {
            "metadata": {"name": name, **more.pop("metadata", {})},
            "status": {"phase": more.pop("phase", "Available")},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage_class,
                "capacity": {"storage": more.pop("size", "1Gi")},
                **({"nodeAffinity": {"required": required}} if node else {}),
                **more,
            },
        },
        PersistentVolume,
    )


def a_class(name: str, mode: str, provisioner: str = "x.example/y", **more: Any) -> StorageClass:
    said = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    return msgspec.convert({**said, **more}, StorageClass)


def a_storage(
    *things: PersistentVolumeClaim | PersistentVolume | StorageClass, **promised: str
) -> Storage:
    claims = [each for each in things if isinstance(each, PersistentVolumeClaim)]
    volumes = [each for each in things if isinstance(each, PersistentVolume)]
    classes = [each for each in things if isinstance(each, StorageClass)]
    return Storage(
        claims={(each.metadata.namespace or "", each.metadata.name): each for each in claims},
        volumes={each.metadata.name: each for each in volumes},
        classes={each.metadata.name: each for each in classes},
        promised=promised,
    )


def a_cluster(*places: Node | Place) -> Cluster:
    return Cluster(
        places=[each if isinstance(each, Place) else Place(node=each) for each in places],
        namespaces={"home": {"team": "a"}, "away": {"team": "b"}},
    )
