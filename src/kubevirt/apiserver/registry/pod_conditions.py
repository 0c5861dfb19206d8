"""Conditions of pods that the server itself writes."""

from typing import Any

Object = dict[str, Any]


def with_condition(pod: Object, condition: Object, now: str) -> Object:
    """A condition keeps the time of its last change while its status stays."""
    status = pod.get("status") or {}
    present = status.get("conditions") or []
    old = next((each for each in present if each["type"] == condition["type"]), None)
    since = now
    if old and old.get("status") == condition["status"]:
        since = old.get("lastTransitionTime")
    made = {**condition, "lastProbeTime": None, "lastTransitionTime": since}
    if old is None:
        conditions = [*present, made]
    else:
        conditions = [made if each is old else each for each in present]
    return {**pod, "status": {**status, "conditions": conditions}}
