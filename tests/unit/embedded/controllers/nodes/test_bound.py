"""Conditions that the controllers of nodes write to pods."""

from datetime import UTC, datetime

from tests.unit.embedded.controllers.nodes.objects import a_pod

from kubevirt.embedded.controllers.nodes.bound import with_condition

NOW = datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
READY = {"type": "Ready", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}


def test_a_condition_that_turns_has_the_present_time() -> None:
    patch = with_condition(a_pod(conditions=[READY]), NOW, type="Ready", status="False")

    assert patch == {
        "metadata": {"uid": "uid-of-pod"},
        "status": {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "False",
                    "lastTransitionTime": NOW.replace(microsecond=0),
                }
            ]
        },
    }


def test_a_pod_that_says_so_already_is_left_alone() -> None:
    assert with_condition(a_pod(conditions=[READY]), NOW, type="Ready", status="True") is None


def test_other_words_keep_the_time() -> None:
    patch = with_condition(
        a_pod(conditions=[READY]), NOW, type="Ready", status="True", reason="Because"
    )

    assert patch is not None
    [made] = patch["status"]["conditions"]
    assert made["lastTransitionTime"] == datetime(2030, 1, 1, tzinfo=UTC)
