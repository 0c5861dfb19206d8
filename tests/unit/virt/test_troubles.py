"""Troubles: told once, with the way out."""

import pytest

from kubevirt.api.machine import VirtualMachineCondition
from kubevirt.virt import troubles
from kubevirt.virt.happening import Failure, Happening
from kubevirt.virt.instance import way_out


def a_condition(name: str, status: str, reason: str, message: str = "") -> VirtualMachineCondition:
    return VirtualMachineCondition(type=name, status=status, reason=reason, message=message)


def told(
    before: list[VirtualMachineCondition], after: list[VirtualMachineCondition]
) -> list[Happening]:
    return list(troubles.between(tuple(before), tuple(after)))


def test_what_was_not_told_before_is() -> None:
    lost = a_condition("Synchronized", "False", "FailedMount", "no secret")
    assert told([], [lost]) == [Happening("FailedMount", "no secret", is_warning=True)]
    other = a_condition("Synchronized", "False", "FailedMount", "no secret at all")
    assert told([lost], [other]) == []
    image = a_condition("Synchronized", "False", "ErrImagePull", "no image")
    assert told([lost], [image]) == [Happening("ErrImagePull", "no image", is_warning=True)]
    assert told([image], []) == []


def test_a_pod_without_a_node_has_the_word_of_kubernetes() -> None:
    condition = a_condition("PodScheduled", "False", "Unschedulable", "0/1 nodes")
    assert told([], [condition]) == [Happening("FailedScheduling", "0/1 nodes", is_warning=True)]


def test_a_pause_is_trouble_only_if_a_disk_is_the_cause() -> None:
    by_user = a_condition("Paused", "True", "PausedByUser")
    by_disk = a_condition("Paused", "True", "PausedIOError", "full")
    assert told([], [by_user]) == []
    assert told([by_user], [by_disk]) == [Happening("PausedIOError", "full", is_warning=True)]


def test_conditions_of_good_news_are_none() -> None:
    assert told([], [a_condition("Ready", "False", "GuestNotRunning")]) == []
    assert told([], [a_condition("Synchronized", "True", "Fine")]) == []


def test_figures_alone_are_no_news() -> None:
    failure = Failure("SyncFailed", "it needs 500 bytes and has 100 free")
    assert failure.is_news(None)
    assert not failure.is_news(Failure("SyncFailed", "it needs 500 bytes and has 99 free"))
    draft = Failure("SyncFailed", "no access to .3ab1.tmp")
    assert not draft.is_news(Failure("SyncFailed", "no access to .c0ff33.tmp"))
    assert failure.is_news(Failure("SyncFailed", "it needs a disk"))
    assert failure.is_news(Failure("Other", failure.message))


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("0/1 nodes are available: 1 Insufficient memory.", "ask for less memory"),
        ("1 Insufficient cpu, 1 Insufficient memory.", "less of a CPU"),
        ("1 node(s) didn't match Pod's node affinity/selector.", "labels"),
        ("1 node(s) had untolerated taint {a: b}.", "take the taint from the node"),
        ("pod has unbound immediate PersistentVolumeClaims.", "kubectl describe pvc"),
        ("1 node(s) were unschedulable.", "kubectl uncordon"),
    ],
)
def test_the_way_to_a_node_is_told(said: str, hint: str) -> None:
    text = way_out.of_no_node(said)
    assert text.startswith(said.rstrip(".") + "; ")
    assert hint in text
    assert text.endswith(", and the start goes on by itself")


def test_the_way_to_a_volume_and_to_an_image_is_told() -> None:
    assert way_out.of_no_volume('secret "a" not found') == (
        'secret "a" not found; create it, and the start goes on by itself'
    )
    assert "make room there" in way_out.of_no_volume("the disk of /x is full; make room there")
    assert "name another" in way_out.of_no_image("no such image")


def test_the_way_into_a_namespace_is_told() -> None:
    said = 'pods "virt-launcher-a-x" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes'
    label = "kubectl label --overwrite namespace lab pod-security.kubernetes.io/enforce=privileged"
    text = way_out.of_no_privilege(said, "lab")
    assert text.startswith(f"{said}; `{label}`, or leave out of the machine what is named here")
    assert text.endswith(", and the start goes on by itself")


def test_where_nothing_is_known_nothing_is_added() -> None:
    assert way_out.of_no_node("0/1 nodes are available.") == "0/1 nodes are available."
    assert way_out.of_no_volume("the server is away") == "the server is away"
