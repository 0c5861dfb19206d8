"""Conditions of machines and instances: one list, several writers, and a time that tells the truth."""

from datetime import datetime
from typing import Final, TypeVar

import msgspec

from kubevirt.api.instance_status import VirtualMachineInstanceCondition
from kubevirt.api.machine import VirtualMachineCondition

TRUE: Final = "True"
FALSE: Final = "False"

READY: Final = "Ready"
PAUSED: Final = "Paused"
AGENT_CONNECTED: Final = "AgentConnected"
SYNCHRONIZED: Final = "Synchronized"
POD_SCHEDULED: Final = "PodScheduled"
REBOOTED: Final = "Rebooted"
"""Ours: KubeVirt has no sign of a guest that has booted anew. What it says is another after each time."""

C = TypeVar("C", VirtualMachineCondition, VirtualMachineInstanceCondition)


class Told(msgspec.Struct, frozen=True):
    """What is to be said of one aspect."""

    status: str
    reason: str | None = None
    message: str | None = None


def found(conditions: tuple[C, ...], name: str) -> C | None:
    return next((each for each in conditions if each.type == name), None)


def is_true(conditions: tuple[C, ...], name: str) -> bool:
    condition = found(conditions, name)
    return condition is not None and condition.status == TRUE


def with_told(
    conditions: tuple[C, ...], kind: type[C], name: str, told: Told | None, now: datetime
) -> tuple[C, ...]:
    """The list with one aspect told anew, or not at all. Its time moves only with its status."""
    before = found(conditions, name)
    if told is None:
        return tuple(each for each in conditions if each.type != name)
    is_same = before is not None and before.status == told.status
    since = before.last_transition_time if before is not None and is_same else None
    condition = kind(
        type=name,
        status=told.status,
        reason=told.reason,
        message=told.message,
        last_transition_time=since or now,
    )
    if condition == before:
        return conditions
    after = [each for each in conditions if each.type != name]
    after.append(condition)
    return tuple(after)
