"""The conditions of a namespace: complete, in order, and turned only when they turn."""

from kubevirt.apiserver.collector.conditions import Remains, updated

FIRST, LATER = "2030-01-01T00:00:00Z", "2030-01-01T01:00:00Z"


def test_all_is_told_even_when_all_is_well() -> None:
    found = updated([], Remains(), FIRST)
    assert [(each["type"], each["status"]) for each in found] == [
        ("NamespaceDeletionDiscoveryFailure", "False"),
        ("NamespaceDeletionGroupVersionParsingFailure", "False"),
        ("NamespaceDeletionContentFailure", "False"),
        ("NamespaceContentRemaining", "False"),
        ("NamespaceFinalizersRemaining", "False"),
    ]


def test_the_time_is_that_of_the_turn() -> None:
    stuck = updated([], Remains(objects={"lamps.house": 2}), FIRST)
    fewer = updated(stuck, Remains(objects={"lamps.house": 1}), LATER)
    assert [each["lastTransitionTime"] for each in fewer] == [FIRST] * 5
    assert fewer[3]["message"].endswith("lamps.house has 1 resource instances")
    done = updated(fewer, Remains(), LATER)
    assert done[3]["lastTransitionTime"] == LATER


def test_conditions_of_others_stay() -> None:
    foreign = {"type": "Mine", "status": "True"}
    assert updated([foreign], Remains(), FIRST)[0] == foreign


def test_failures_are_counted_and_sorted() -> None:
    found = updated([], Remains(failures=["b", "a"]), FIRST)
    assert found[2]["message"] == "Failed to delete all resource types, 2 remaining: a, b"
