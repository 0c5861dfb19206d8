"""Conditions of a node, and what is left of them when the node is not heard of any more."""

from datetime import datetime
from typing import Any, Final

from kubevirt.api.core.node import Node, NodeCondition

READY: Final = "Ready"
_TOLD_BY_NODES: Final = (READY, "MemoryPressure", "DiskPressure", "PIDPressure")


def condition(node: Node, type_: str) -> NodeCondition | None:
    return next((each for each in node.status.conditions if each.type == type_), None)


def is_ready(node: Node) -> bool:
    found = condition(node, READY)
    return found is not None and found.status == "True"


def lost(node: Node, now: datetime) -> list[dict[str, Any]]:
    """The conditions that are to be written: of each, that nobody knows. Empty if they say so already."""
    made = []
    for type_ in _TOLD_BY_NODES:
        old = condition(node, type_)
        if old and old.status == "Unknown":
            continue
        made.append(
            {
                "type": type_,
                "status": "Unknown",
                "reason": "NodeStatusUnknown" if old else "NodeStatusNeverUpdated",
                "message": (
                    "Kubelet stopped posting node status."
                    if old
                    else "Kubelet never posted node status."
                ),
                "lastTransitionTime": now.replace(microsecond=0),
                **({} if old else {"lastHeartbeatTime": node.metadata.creation_timestamp}),
            }
        )
    return made
