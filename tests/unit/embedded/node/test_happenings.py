"""The events of a pod, in a kubelet's words."""

import pytest
from tests.unit.embedded.node.objects import a_pod, at, ended, ready_pod

from kubevirt.api.core.pod import Pod, PodStatus
from kubevirt.embedded.node import happenings
from kubevirt.embedded.node.actions import BeginToStop, TearDown
from kubevirt.embedded.node.happenings import Happening
from kubevirt.embedded.node.life import decide
from kubevirt.embedded.node.probes.schedule import Answer
from kubevirt.embedded.node.seen import ContainerSeen, Setback


def between(pod: Pod, before: PodStatus, after: PodStatus) -> list[tuple[str, str]]:
    return [(each.reason, each.message) for each in happenings.between(pod, before, after)]


def test_a_wait_after_crashes_is_told_once_for_each_crash() -> None:
    crashed = ready_pod(main=(ended(1, 0), ended(1, 1, since=1, until=2)))
    before = decide(a_pod(), ready_pod(main=ended(1)), at(1)).status
    after = decide(a_pod(), crashed, at(3)).status
    still = decide(a_pod(), crashed, at(4)).status

    assert between(a_pod(), before, after) == [
        ("BackOff", "Back-off restarting failed container main in pod web_home(u1)")
    ]
    assert between(a_pod(), after, still) == []


@pytest.mark.parametrize(
    ("reason", "seconds", "events"),
    [
        (
            "ErrImagePull",
            0,
            [("Failed", 'Failed to pull image "tool": why'), ("Failed", "Error: ErrImagePull")],
        ),
        (
            "ErrImagePull",
            1,
            [
                ("BackOff", 'Back-off pulling image "tool"'),
                ("Failed", "Error: ImagePullBackOff"),
            ],
        ),
        (
            "InvalidImageName",
            0,
            [("InspectFailed", "why"), ("Failed", "Error: InvalidImageName")],
        ),
        (
            "ErrImageNeverPull",
            0,
            [("ErrImageNeverPull", "why"), ("Failed", "Error: ErrImageNeverPull")],
        ),
        ("CreateContainerConfigError", 0, [("Failed", "Error: why")]),
    ],
)
def test_what_keeps_a_container_from_starting_is_told(
    reason: str, seconds: float, events: list[tuple[str, str]]
) -> None:
    failed = Setback(reason=reason, message="why", at=at(0), image="tool")
    seen = ready_pod(main=ContainerSeen(setback=failed))

    after = decide(a_pod(), seen, at(seconds)).status

    assert between(a_pod(), PodStatus(), after) == events


def test_only_the_beginning_of_an_end_is_told() -> None:
    assert happenings.of_action(TearDown()) is None
    assert happenings.of_action(BeginToStop("main", 0, "Stopping container main")) == Happening(
        reason="Killing", message="Stopping container main", container="main"
    )


@pytest.mark.parametrize(
    ("happening", "text"),
    [
        (happenings.created("main"), "Created: Created container: main"),
        (happenings.started("main"), "Started: Started container main"),
        (happenings.pulling("main", "tool"), 'Pulling: Pulling image "tool"'),
        (
            happenings.present("main", "tool"),
            'Pulled: Container image "tool" already present on machine',
        ),
        (
            happenings.pulled("main", "tool", 0.25, 7),
            (
                'Pulled: Successfully pulled image "tool" in 250ms (250ms including waiting).'
                " Image size: 7 bytes."
            ),
        ),
        (
            happenings.pulled("main", "tool", 1.5, 7),
            (
                'Pulled: Successfully pulled image "tool" in 1.5s (1.5s including waiting).'
                " Image size: 7 bytes."
            ),
        ),
        (
            happenings.of_answer("main", "Liveness", Answer(is_good=False, said="no")),
            "Unhealthy: Liveness probe failed: no",
        ),
        (
            happenings.of_answer(
                "main", "Startup", Answer(is_good=True, said="but", is_warning=True)
            ),
            "ProbeWarning: Startup probe warning: but",
        ),
        (
            happenings.network_failed("no free address"),
            "FailedCreatePodSandBox: Failed to create pod sandbox: no free address",
        ),
        (happenings.evicted("low on memory"), "Evicted: low on memory"),
        (
            happenings.deadline_exceeded(),
            "DeadlineExceeded: Pod was active on the node longer than the specified deadline",
        ),
        (happenings.post_start_failed("main"), "FailedPostStartHook: PostStartHook failed"),
        (happenings.pre_stop_failed("main"), "FailedPreStopHook: PreStopHook failed"),
    ],
)
def test_the_words_of_events(happening: Happening, text: str) -> None:
    assert f"{happening.reason}: {happening.message}" == text
