"""How many pods of a budget may go right now: pure counting, as Kubernetes' disruption controller does it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

Object = dict[str, Any]

DELETION_TIMEOUT: Final = timedelta(minutes=2)
"""A pod whose eviction was granted and that is still there after this is taken to stay."""
_ALLOWED: Final = "DisruptionAllowed"


def status(
    budget: Object, pods: Sequence[Object], scale: int, now: datetime
) -> tuple[Object, float | None]:
    """The status that a budget should have, and after how many seconds to count again.

    `scale` is how many pods those who made them want there to be.
    """
    expected, desired = _wanted(budget["spec"], len(pods), scale)
    disrupted, again_s = _disrupted(budget, pods, now)
    healthy = sum(1 for pod in pods if _is_healthy(pod) and _name(pod) not in disrupted)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    generation = budget["metadata"].get("generation", 0)
    made: Object = {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": generation,
        "conditions": _conditions(
            budget,
            now,
            status="True" if allowed else "False",
            reason="SufficientPods" if allowed else "InsufficientPods",
            observedGeneration=generation,
        ),
    }
    return ({**made, "disruptedPods": disrupted} if disrupted else made), again_s


def failed(budget: Object, why: str, now: datetime) -> Object:
    """The status of a budget that cannot be counted: nobody may go, the rest stays as it was."""
    before = budget.get("status") or {}
    said: Object = {"status": "False", "reason": "SyncFailed", "message": why}
    if "observedGeneration" in before:
        said["observedGeneration"] = before["observedGeneration"]
    none = {"currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
    conditions = _conditions(budget, now, **said)
    return {**none, **before, "disruptionsAllowed": 0, "conditions": conditions}


def needs_scale(spec: Object) -> bool:
    """Whether it matters how many pods there should be, not just how many there are."""
    return "maxUnavailable" in spec or isinstance(spec.get("minAvailable"), str)


def _wanted(spec: Object, count: int, scale: int) -> tuple[int, int]:
    """How many are expected, and how many of them must be healthy."""
    if (most := spec.get("maxUnavailable")) is not None:
        return scale, max(scale - _scaled(most, scale), 0)
    least = spec.get("minAvailable", 0)
    if isinstance(least, str):
        return scale, _scaled(least, scale)
    return count, least


def selector(spec: Object) -> str:
    """As Go shows it."""
    said = spec.get("selector") or {}
    labels = "".join(
        f"{key}: {said['matchLabels'][key]}," for key in sorted(said.get("matchLabels") or {})
    )
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or [])}],}},"
        for each in said.get("matchExpressions") or []
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _scaled(value: int | str, total: int) -> int:
    """A number, or a percentage of the total, rounded up."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    return -(-int(digits) * total // 100) if digits.isdigit() else 0


def _disrupted(
    budget: Object, pods: Sequence[Object], now: datetime
) -> tuple[Mapping[str, str], float | None]:
    """Pods that may go and have not yet."""
    before = (budget.get("status") or {}).get("disruptedPods") or {}
    kept: dict[str, str] = {}
    again_s: float | None = None
    for pod in pods:
        since = before.get(_name(pod))
        if since is None or pod["metadata"].get("deletionTimestamp"):
            continue
        left_s = (datetime.fromisoformat(since) + DELETION_TIMEOUT - now).total_seconds()
        if left_s >= 0:
            kept[_name(pod)] = since
            again_s = left_s if again_s is None else min(again_s, left_s)
    return kept, again_s


def _is_healthy(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return is_ready and not pod["metadata"].get("deletionTimestamp")


def _name(pod: Object) -> str:
    return str(pod["metadata"]["name"])


def _conditions(budget: Object, now: datetime, **said: Any) -> list[Object]:
    present = (budget.get("status") or {}).get("conditions") or []
    old = next((each for each in present if each["type"] == _ALLOWED), None)
    since = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    if old and old["status"] == said["status"]:
        since = old["lastTransitionTime"]
    made = {"type": _ALLOWED, "message": "", **said, "lastTransitionTime": since}
    return [each for each in present if each["type"] != _ALLOWED] + [made]
