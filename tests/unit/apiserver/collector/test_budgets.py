"""How many pods may go, by a budget."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kubevirt.apiserver.collector import budgets

Object = dict[str, Any]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pod(name: str, *, is_ready: bool = True, **metadata: Any) -> Object:
    conditions = [{"type": "Ready", "status": "True" if is_ready else "False"}]
    return {"metadata": {"name": name, **metadata}, "status": {"conditions": conditions}}


def budget(status: Object | None = None, **spec: Any) -> Object:
    return {"metadata": {"generation": 3}, "spec": spec, "status": status or {}}


@pytest.mark.parametrize(
    ("spec", "count", "scale", "desired", "allowed"),
    [
        ({"minAvailable": 1}, 1, 0, 1, 0),
        ({"minAvailable": 1}, 3, 0, 1, 2),
        ({"minAvailable": 0}, 0, 0, 0, 0),
        ({"minAvailable": 5}, 3, 0, 5, 0),
        ({"minAvailable": "50%"}, 3, 3, 2, 1),
        ({"maxUnavailable": 1}, 3, 3, 2, 1),
        ({"maxUnavailable": "34%"}, 3, 3, 1, 2),
        ({"maxUnavailable": 5}, 3, 3, 0, 3),
        ({"maxUnavailable": "50%"}, 1, 0, 0, 0),
    ],
)
def test_what_is_left_may_go(
    spec: Object, count: int, scale: int, desired: int, allowed: int
) -> None:
    pods = [pod(str(number)) for number in range(count)]
    status, _ = budgets.status(budget(**spec), pods, scale, NOW)
    assert (status["desiredHealthy"], status["disruptionsAllowed"]) == (desired, allowed)
    assert status["observedGeneration"] == 3


def test_only_those_who_are_well_and_stay_are_counted() -> None:
    pods = [pod("a"), pod("b", is_ready=False), pod("c", deletionTimestamp="x")]
    status, _ = budgets.status(budget(minAvailable=0), pods, 0, NOW)
    assert (status["currentHealthy"], status["expectedPods"]) == (1, 3)


def test_who_may_go_is_not_counted_until_it_is_clear_that_they_stay() -> None:
    since = (NOW - timedelta(seconds=60)).isoformat()
    before = {"disruptedPods": {"a": since, "gone": since}}
    status, again_s = budgets.status(budget(before, minAvailable=0), [pod("a"), pod("b")], 0, NOW)
    assert status["currentHealthy"] == 1
    assert status["disruptedPods"] == {"a": since}
    assert again_s == 60
    later = NOW + timedelta(seconds=61)
    status, again_s = budgets.status(budget(before, minAvailable=0), [pod("a"), pod("b")], 0, later)
    assert (status["currentHealthy"], again_s) == (2, None)
    assert "disruptedPods" not in status


def test_a_condition_keeps_its_time_while_it_says_the_same() -> None:
    first, _ = budgets.status(budget(minAvailable=0), [pod("a")], 0, NOW)
    later = NOW + timedelta(hours=1)
    second, _ = budgets.status(budget(first, minAvailable=0), [pod("a")], 0, later)
    assert second == first
    third, _ = budgets.status(budget(first, minAvailable=1), [pod("a")], 0, later)
    assert third["conditions"][0]["lastTransitionTime"] == "2026-01-01T01:00:00Z"


def test_a_budget_that_cannot_be_counted_lets_nobody_go() -> None:
    before = {"disruptionsAllowed": 2, "currentHealthy": 3, "observedGeneration": 1}

    status = budgets.failed(budget(before, maxUnavailable=1), "nobody knows", NOW)

    assert status == {
        "disruptionsAllowed": 0,
        "currentHealthy": 3,
        "desiredHealthy": 0,
        "expectedPods": 0,
        "observedGeneration": 1,
        "conditions": [
            {
                "type": "DisruptionAllowed",
                "status": "False",
                "reason": "SyncFailed",
                "message": "nobody knows",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ],
    }
    again = budgets.failed(budget(status, maxUnavailable=1), "nobody knows", NOW + timedelta(1))
    assert again == status


def test_a_selector_is_shown_as_go_shows_it() -> None:
    expression = {"key": "c", "operator": "In", "values": ["d", "e"]}
    selector = {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [expression]}

    assert budgets.selector({"selector": selector}) == (
        "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:"
        "[]LabelSelectorRequirement{LabelSelectorRequirement{Key:c,Operator:In,Values:[d e],},},}"
    )
