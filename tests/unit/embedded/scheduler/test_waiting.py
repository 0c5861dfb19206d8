"""Who waits for a node, and who is worth a look."""

from typing import Any

import msgspec
import pytest
from tests.unit.embedded.scheduler.objects import a_pod

from kubevirt.api.core.pod import Pod, PodStatus
from kubevirt.embedded.scheduler.waiting import Waiting, is_ours_to_place
from kubevirt.kube.key import Key


def names(pods: list[Pod]) -> list[str]:
    return [pod.metadata.name for pod in pods]


@pytest.mark.parametrize(
    ("spec", "is_ours"),
    [
        ({}, True),
        ({"schedulerName": "default-scheduler"}, True),
        ({"schedulerName": "other"}, False),
        ({"nodeName": "one"}, False),
        ({"schedulingGates": [{"name": "gate"}]}, False),
    ],
)
def test_which_pods_are_ours(spec: dict[str, Any], *, is_ours: bool) -> None:
    assert is_ours_to_place(a_pod(**spec)) == is_ours


def test_a_pod_that_has_ended_or_is_going_needs_no_node() -> None:
    pod = a_pod()
    ended = msgspec.structs.replace(pod, status=PodStatus(phase="Failed"))
    raw = msgspec.to_builtins(pod, enc_hook=dict)
    raw["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"

    assert not is_ours_to_place(ended)
    assert not is_ours_to_place(msgspec.convert(raw, Pod))


def test_a_pod_is_looked_at_once() -> None:
    waiting = Waiting()
    assert waiting.put(a_pod("a"))

    assert names(waiting.take_due()) == ["a"]
    assert waiting.take_due() == []
    assert len(waiting) == 1


def test_a_new_status_is_no_reason_to_look_again() -> None:
    waiting = Waiting()
    waiting.put(a_pod("a"))
    waiting.take_due()

    told = msgspec.structs.replace(a_pod("a"), status=PodStatus(phase="Pending"))
    assert not waiting.put(told)
    assert waiting.take_due() == []


def test_a_pod_that_asks_for_something_else_is_looked_at_again() -> None:
    waiting = Waiting()
    waiting.put(a_pod("a"))
    waiting.take_due()

    assert waiting.put(a_pod("a", labels={"app": "x"}))
    assert names(waiting.take_due()) == ["a"]


def test_a_change_wakes_those_whom_it_could_help() -> None:
    waiting = Waiting()
    for name in ("a", "b"):
        waiting.put(a_pod(name))
    waiting.take_due()

    assert waiting.wake(lambda pod: pod.metadata.name == "b")
    assert names(waiting.take_due()) == ["b"]
    assert not waiting.wake(lambda _: False)


def test_the_important_come_first_whenever_they_came() -> None:
    waiting = Waiting()
    for name, priority in (("low", 0), ("high", 9), ("middle", 5)):
        waiting.put(a_pod(name, priority=priority))

    assert names(waiting.take_due()) == ["high", "middle", "low"]


def test_a_pod_whose_binding_failed_is_looked_at_again_while_it_waits() -> None:
    waiting = Waiting()
    waiting.put(a_pod("a"))
    waiting.take_due()

    assert waiting.again(Key("home", "a"))
    assert names(waiting.take_due()) == ["a"]
    waiting.drop(Key("home", "a"))
    assert not waiting.again(Key("home", "a"))


def test_another_pod_of_the_name_is_not_the_one_that_was_taken() -> None:
    waiting = Waiting()
    waiting.put(a_pod("a"))
    [taken] = waiting.take_due()
    other = msgspec.structs.replace(
        taken, metadata=msgspec.structs.replace(taken.metadata, uid="another")
    )

    waiting.put(other)

    assert not waiting.is_there(taken)
    assert waiting.is_there(other)
