"""Nodes and pods in few words."""

from typing import Any

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.embedded.controllers.nodes.bound import BoundPod


def a_node(
    name: str = "one", *, taints: Any = (), cordoned: bool = False, **conditions: str
) -> Node:
    """With conditions by type: `Ready="True"`."""
    return msgspec.convert(
        {
            "metadata": {"name": name, "creationTimestamp": "2030-01-01T00:00:00Z"},
            "spec": {
                "taints": [{"key": key, "effect": effect} for key, effect in taints],
                **({"unschedulable": True} if cordoned else {}),
            },
            "status": {
                "conditions": [
                    {"type": type_, "status": status} for type_, status in conditions.items()
                ]
            },
        },
        Node,
    )


def a_pod(name: str = "pod", *, conditions: Any = (), **spec: Any) -> BoundPod:
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "home", "uid": f"uid-of-{name}"},
            "spec": spec,
            "status": {"conditions": list(conditions)},
        },
        BoundPod,
    )
