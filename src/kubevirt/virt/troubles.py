"""Trouble that conditions tell of, as events: each once, when it appears."""

from collections.abc import Iterator
from typing import Final, TypeVar

from kubevirt.api.instance_status import VirtualMachineInstanceCondition
from kubevirt.api.machine import VirtualMachineCondition
from kubevirt.virt.conditions import FALSE, PAUSED, POD_SCHEDULED, SYNCHRONIZED, TRUE, found
from kubevirt.virt.happening import Happening

C = TypeVar("C", VirtualMachineCondition, VirtualMachineInstanceCondition)

UNSCHEDULABLE: Final = "Unschedulable"
_EVENTS: Final = {UNSCHEDULABLE: "FailedScheduling"}
"""Reasons of events, where Kubernetes has another than for the condition."""


def between(before: tuple[C, ...], after: tuple[C, ...]) -> Iterator[Happening]:
    """What was not told before. Other words for the same are nothing new."""
    for name in (SYNCHRONIZED, POD_SCHEDULED, PAUSED):
        old, new = found(before, name), found(after, name)
        if new is None or not _is_trouble(new):
            continue
        if old is None or (old.status, old.reason) != (new.status, new.reason):
            reason = new.reason or ""
            yield Happening(_EVENTS.get(reason, reason), new.message or "", is_warning=True)


def is_stuck(conditions: tuple[C, ...]) -> bool:
    """Whether something keeps a guest from starting."""
    told = (found(conditions, name) for name in (SYNCHRONIZED, POD_SCHEDULED))
    return any(each is not None and each.status == FALSE for each in told)


def _is_trouble(condition: C) -> bool:
    if condition.type == PAUSED:
        return condition.status == TRUE and condition.reason == "PausedIOError"
    return condition.status == FALSE
