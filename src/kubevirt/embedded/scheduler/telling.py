"""What a pod that fits nowhere is told: a condition, written only when it says something new."""

from datetime import datetime
from typing import Any, Final

from kubevirt.api.core.pod import Pod

CONDITION: Final = "PodScheduled"
UNSCHEDULABLE: Final = "Unschedulable"


def unscheduled(pod: Pod, message: str, now: datetime) -> dict[str, Any] | None:
    """A strategic merge patch of the pod's status; None if the pod says so already."""
    old = next((each for each in pod.status.conditions if each.type == CONDITION), None)
    was_false = old is not None and old.status == "False"
    if old and was_false and (old.reason, old.message) == (UNSCHEDULABLE, message):
        return None
    since = old.last_transition_time if old and was_false else None
    condition: dict[str, Any] = {
        "type": CONDITION,
        "status": "False",
        "reason": UNSCHEDULABLE,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": since or now.replace(microsecond=0),
    }
    if pod.metadata.generation is not None:
        condition["observedGeneration"] = pod.metadata.generation
    # The uid refuses the patch where another pod has the name by now.
    return {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [condition]}}
