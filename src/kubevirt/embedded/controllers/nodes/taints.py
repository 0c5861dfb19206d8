"""Taints that a node has for what is wrong with it, in place of those that it had.

Taints of others stay as they are. Pods are driven off a node (NoExecute) only while another node is well: where
none is, there is nowhere to go, and it is more likely that those who look are at fault.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from kubevirt.api.core.node import Node, Taint

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
_NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"

_BY_CONDITION: Final = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_DRIVE_OFF: Final = (NOT_READY, UNREACHABLE)
_OURS: Final = {
    *((key, _NO_SCHEDULE) for key in (*_BY_CONDITION.values(), UNSCHEDULABLE)),
    *((key, NO_EXECUTE) for key in _DRIVE_OFF),
}


def wanted(node: Node, now: datetime, *, is_any_ready: bool) -> tuple[Taint, ...]:
    """All taints of the node. Those that it has keep their time."""
    due = dict.fromkeys(_due(node, is_any_ready=is_any_ready))
    kept = [each for each in node.spec.taints if _key(each) not in _OURS or _key(each) in due]
    known = {_key(each) for each in kept}
    new = [
        Taint(key=key, effect=effect, time_added=now.replace(microsecond=0))
        for key, effect in due
        if (key, effect) not in known
    ]
    return (*kept, *new)


def _due(node: Node, *, is_any_ready: bool) -> Iterator[tuple[str, str]]:
    for condition in node.status.conditions:
        key = _BY_CONDITION.get((condition.type, condition.status))
        if key is None:
            continue
        yield key, _NO_SCHEDULE
        if key in _DRIVE_OFF and is_any_ready:
            yield key, NO_EXECUTE
    if node.spec.unschedulable:
        yield UNSCHEDULABLE, _NO_SCHEDULE


def _key(taint: Taint) -> tuple[str, str]:
    return taint.key, taint.effect


def driving_off(node: Node) -> tuple[Taint, ...]:
    return tuple(each for each in node.spec.taints if each.effect == NO_EXECUTE)
