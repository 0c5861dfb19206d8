"""A volume that is an image which cannot be had: its containers say so, as they do of an image of their own."""

from pathlib import Path

import pytest
from tests.unit.embedded.node.objects import a_pod, at, container

from kubevirt.api.core.pod import ContainerStateWaiting, Pod
from kubevirt.embedded.node import happenings
from kubevirt.embedded.node.life import Plan, decide
from kubevirt.embedded.node.memory import PodMemory
from kubevirt.embedded.node.neighbours import NoImageForVolume
from kubevirt.embedded.node.records import PodRecords

DISK = "example.com/disks/demo:1"
TROUBLE = NoImageForVolume("ErrImagePull", "nobody has it", volume="root", image=DISK)
SAID = f"image {DISK}: nobody has it"


@pytest.fixture
def pod() -> Pod:
    return a_pod(
        container("compute", volumeMounts=[{"name": "root", "mountPath": "/disk"}]),
        container("other"),
        volumes=[{"name": "root", "image": {"reference": DISK}}],
    )


@pytest.fixture
def memory(pod: Pod, tmp_path: Path) -> PodMemory:
    return PodMemory.recall(pod, PodRecords(tmp_path / pod.metadata.uid), "boot")


def planned(pod: Pod, memory: PodMemory, seconds: float) -> Plan:
    return decide(pod, memory.seen(()), at(seconds))


def waits(plan: Plan) -> dict[str, ContainerStateWaiting | None]:
    found = plan.status.container_statuses
    return {each.name: each.state.waiting if each.state else None for each in found}


def test_the_containers_that_mount_it_say_why_they_wait(pod: Pod, memory: PodMemory) -> None:
    memory.wait_for_image(pod, TROUBLE, at(0))
    assert waits(planned(pod, memory, 0)) == {
        "compute": ContainerStateWaiting(reason="ErrImagePull", message=SAID),
        "other": ContainerStateWaiting(reason="ContainerCreating"),
    }


def test_the_error_turns_into_a_wait(pod: Pod, memory: PodMemory) -> None:
    memory.wait_for_image(pod, TROUBLE, at(0))
    assert planned(pod, memory, 0).look_again == at(1)
    later = planned(pod, memory, 1)
    assert later.look_again is None
    assert waits(later)["compute"] == ContainerStateWaiting(
        reason="ImagePullBackOff",
        message=f'Back-off pulling image "{DISK}": ErrImagePull: {SAID}',
    )


def test_the_same_trouble_again_changes_nothing(pod: Pod, memory: PodMemory) -> None:
    memory.wait_for_image(pod, TROUBLE, at(0))
    memory.wait_for_image(pod, TROUBLE, at(5))
    wait = waits(planned(pod, memory, 5))["compute"]
    assert wait is not None
    assert wait.reason == "ImagePullBackOff"


def test_other_trouble_is_told(pod: Pod, memory: PodMemory) -> None:
    other = NoImageForVolume("ErrImagePull", f"{DISK} is damaged", volume="root", image=DISK)
    memory.wait_for_image(pod, TROUBLE, at(0))
    memory.wait_for_image(pod, other, at(5))
    wait = waits(planned(pod, memory, 5))["compute"]
    assert wait == ContainerStateWaiting(reason="ErrImagePull", message=f"{DISK} is damaged")


def test_its_events_name_the_image_of_the_volume(pod: Pod, memory: PodMemory) -> None:
    before = planned(pod, memory, 0).status
    memory.wait_for_image(pod, TROUBLE, at(0))
    told = happenings.between(pod, before, planned(pod, memory, 0).status)
    assert [each.message for each in told] == [
        f'Failed to pull image "{DISK}": {SAID}',
        "Error: ErrImagePull",
    ]
