"""What a pod that fits nowhere is told, and that it is told once."""

from datetime import UTC, datetime

import msgspec
from tests.unit.embedded.scheduler.objects import a_pod

from kubevirt.api.core.pod import Pod, PodCondition, PodStatus
from kubevirt.embedded.scheduler.telling import unscheduled

NOW = datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
BEFORE = datetime(2030, 1, 1, tzinfo=UTC)


def told(message: str, status: str = "False") -> Pod:
    condition = PodCondition(
        type="PodScheduled",
        status=status,
        reason="Unschedulable",
        message=message,
        last_transition_time=BEFORE,
    )
    return msgspec.structs.replace(a_pod(), status=PodStatus(conditions=(condition,)))


def test_a_pod_is_told_with_the_time_and_its_own_identity() -> None:
    assert unscheduled(a_pod(), "nowhere", NOW) == {
        "metadata": {"uid": "uid-of-pod"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "nowhere",
                    "lastProbeTime": None,
                    "lastTransitionTime": NOW.replace(microsecond=0),
                }
            ]
        },
    }


def test_a_pod_that_says_so_already_is_left_alone() -> None:
    assert unscheduled(told("nowhere"), "nowhere", NOW) is None


def test_other_words_do_not_change_since_when() -> None:
    patch = unscheduled(told("nowhere"), "still nowhere", NOW)

    assert patch is not None
    [condition] = patch["status"]["conditions"]
    assert condition["message"] == "still nowhere"
    assert condition["lastTransitionTime"] == BEFORE


def test_a_pod_that_had_a_node_turns_now() -> None:
    patch = unscheduled(told("nowhere", status="True"), "nowhere", NOW)

    assert patch is not None
    [condition] = patch["status"]["conditions"]
    assert condition["lastTransitionTime"] == NOW.replace(microsecond=0)
