"""Pods, as far as the controllers of nodes look at them: a cache of all pods is kept small by it."""

from datetime import datetime
from typing import Any

from kubevirt.api.core.pod import PodCondition
from kubevirt.api.core.scheduling import Toleration
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.scheme import PODS
from kubevirt.api.struct import Struct

ENDED = ("Succeeded", "Failed")


class BoundSpec(Struct, frozen=True, kw_only=True):
    node_name: str = ""
    tolerations: tuple[Toleration, ...] = ()


class BoundStatus(Struct, frozen=True, kw_only=True):
    conditions: tuple[PodCondition, ...] = ()
    phase: str = ""


class BoundPod(Struct, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: BoundSpec = BoundSpec()
    status: BoundStatus = BoundStatus()


BOUND_PODS = PODS.read_as(BoundPod)


def with_condition(pod: BoundPod, now: datetime, **condition: Any) -> dict[str, Any] | None:
    """A strategic merge patch of the pod's status; None if the pod says so already."""
    old = next((each for each in pod.status.conditions if each.type == condition["type"]), None)
    has_turned = old is None or old.status != condition["status"]
    words = (condition.get("reason"), condition.get("message"))
    if old and not has_turned and (old.reason, old.message) == words:
        return None
    since = now.replace(microsecond=0) if has_turned or not old else old.last_transition_time
    made = {**condition, "lastTransitionTime": since}
    if pod.metadata.generation is not None:
        made["observedGeneration"] = pod.metadata.generation
    # The uid refuses the patch where another pod has the name by now.
    return {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [made]}}
