"""Pods and nodes in few words."""

from typing import Any

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.scheduler.cluster import Cluster, Place


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
            "metadata": {"name": name, "namespace": "home", "labels": labels or {}},
            "spec": {"containers": [container], **spec},
        },
        Pod,
    )


def a_cluster(*places: Node | Place) -> Cluster:
    return Cluster(
        places=[each if isinstance(each, Place) else Place(node=each) for each in places],
        namespaces={"home": {"team": "a"}, "away": {"team": "b"}},
    )
