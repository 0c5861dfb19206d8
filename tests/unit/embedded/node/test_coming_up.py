"""What is done to bring a pod up and to keep it up, in which order."""

from typing import Any

import msgspec
import pytest
from tests.unit.embedded.node.objects import (
    a_pod,
    at,
    container,
    ended,
    never_tried,
    ready_pod,
    running,
    status_of,
)

from kubevirt.embedded.node.actions import (
    BeginToStop,
    GetImage,
    PrepareVolumes,
    RunPostStart,
    SetUpNetwork,
    Start,
    TearDown,
)
from kubevirt.embedded.node.life import decide
from kubevirt.embedded.node.seen import ContainerSeen, Hook, PodSeen, Probed, Setback

HOOK = {"exec": {"command": ["true"]}}
PROBE = {"exec": {"command": ["true"]}}


def sidecar(name: str, **more: Any) -> dict[str, Any]:
    return container(name, restartPolicy="Always", **more)


def test_volumes_come_first_then_the_network_then_the_image() -> None:
    pod = a_pod()
    bare = PodSeen()
    with_volumes = PodSeen(has_volumes=True)
    with_network = PodSeen(has_volumes=True, addresses=("10.0.0.5",))

    assert decide(pod, bare, at(0)).actions == (PrepareVolumes(),)
    assert decide(pod, with_volumes, at(0)).actions == (SetUpNetwork(),)
    assert decide(pod, with_network, at(0)).actions == (GetImage("main", 0),)


def test_containers_start_side_by_side() -> None:
    pod = a_pod(container("one"), container("two"))
    seen = ready_pod(one=never_tried(), two=never_tried())

    assert decide(pod, seen, at(0)).actions == (Start("one", 0), Start("two", 0))


def test_an_image_is_had_anew_for_each_try() -> None:
    crashed = ContainerSeen(tries=(ended(1),), image_at_hand_for=0)

    assert decide(a_pod(), ready_pod(main=crashed), at(2)).actions == (GetImage("main", 1),)


def test_init_containers_run_one_after_the_other() -> None:
    pod = a_pod(inits=(container("first"), container("second")))

    def actions(**seen: Any) -> Any:
        fresh = {name: never_tried() for name in ("first", "second", "main")}
        return decide(pod, ready_pod(**(fresh | seen)), at(2)).actions

    assert actions() == (Start("first", 0),)
    assert actions(first=running()) == ()
    assert actions(first=ended(0)) == (Start("second", 0),)
    assert actions(first=ended(0), second=ended(0)) == (Start("main", 0),)
    assert actions(first=ended(0), second=ended(0), main=running()) == ()


def test_an_init_container_that_failed_runs_again_after_its_wait() -> None:
    pod = a_pod(inits=(container("first"),))
    seen = ready_pod(first=(ended(1, 0), ended(1, 1, since=1, until=2)), main=never_tried())

    waiting = decide(pod, seen, at(3))

    assert waiting.actions == ()
    assert waiting.look_again == at(12)
    assert decide(pod, seen, at(12)).actions == (Start("first", 2),)


def test_an_init_container_that_failed_ends_a_pod_that_never_restarts() -> None:
    pod = a_pod(inits=(container("first"),), restartPolicy="Never")

    plan = decide(pod, ready_pod(first=ended(3)), at(2))

    assert plan.actions == (TearDown(),)
    assert plan.status.phase == "Failed"


def test_what_follows_a_sidecar_waits_for_its_startup_probe() -> None:
    pod = a_pod(inits=(sidecar("proxy", startupProbe=PROBE), container("setup")))
    starting = running(probed=Probed())
    fresh = {"setup": never_tried(), "main": never_tried()}

    assert decide(pod, ready_pod(proxy=starting, **fresh), at(1)).actions == ()
    assert decide(pod, ready_pod(proxy=running(), **fresh), at(1)).actions == (Start("setup", 0),)


def test_a_sidecar_that_ended_comes_back_and_holds_up_nobody() -> None:
    pod = a_pod(inits=(sidecar("proxy"), container("setup")), restartPolicy="Never")
    seen = ready_pod(proxy=ended(0), setup=ended(0), main=never_tried())

    assert decide(pod, seen, at(2)).actions == (Start("proxy", 1), Start("main", 0))


def test_a_container_comes_back_while_its_sidecar_waits_to_come_back() -> None:
    pod = a_pod(inits=(sidecar("proxy"),))
    proxy = (ended(1, 0), ended(1, 1, since=1, until=2))

    plan = decide(pod, ready_pod(proxy=proxy, main=ended(1)), at(3))

    assert plan.actions == (Start("main", 1),)
    assert plan.look_again == at(12)


def test_init_containers_do_not_run_again_once_a_container_has_begun() -> None:
    pod = a_pod(inits=(container("first"),))

    plan = decide(pod, ready_pod(main=running()), at(2))

    assert plan.actions == ()
    assert plan.status.phase == "Running"


def test_a_container_in_its_post_start_hook_holds_up_the_next() -> None:
    pod = a_pod(container("one", lifecycle={"postStart": HOOK}), container("two"))

    def actions(hook: Hook) -> Any:
        seen = ready_pod(one=running(post_start=hook), two=never_tried())
        return decide(pod, seen, at(1)).actions

    assert actions(Hook.NOT_RUN) == (RunPostStart("one", 0),)
    assert actions(Hook.RUNNING) == ()
    assert actions(Hook.DONE) == (Start("two", 0),)
    assert actions(Hook.FAILED) == (BeginToStop("one", 0, "FailedPostStartHook"), Start("two", 0))


@pytest.mark.parametrize(
    ("policy", "code", "comes_back"),
    [
        ("Always", 0, True),
        ("Always", 1, True),
        ("OnFailure", 0, False),
        ("OnFailure", 1, True),
        ("Never", 0, False),
        ("Never", 1, False),
    ],
)
def test_the_restart_policy_says_who_comes_back(
    policy: str, code: int, *, comes_back: bool
) -> None:
    pod = a_pod(restartPolicy=policy)

    plan = decide(pod, ready_pod(main=ended(code)), at(2))

    assert plan.actions == ((Start("main", 1),) if comes_back else (TearDown(),))


@pytest.mark.parametrize(
    ("kind", "policy", "why"),
    [
        ("liveness", "Always", "Container main failed liveness probe, will be restarted"),
        ("startup", "OnFailure", "Container main failed startup probe, will be restarted"),
        ("liveness", "Never", "Container main failed liveness probe"),
    ],
)
def test_a_container_that_a_probe_gave_up_is_stopped(kind: str, policy: str, why: str) -> None:
    pod = a_pod(container("main", livenessProbe=PROBE, startupProbe=PROBE), restartPolicy=policy)
    sick = running(probed=Probed(has_started=True, unhealthy=kind))

    assert decide(pod, ready_pod(main=sick), at(1)).actions == (BeginToStop("main", 0, why),)


def test_a_sidecar_that_a_probe_gave_up_is_stopped_in_words_of_its_own() -> None:
    pod = a_pod(inits=(sidecar("proxy", livenessProbe=PROBE),))
    sick = running(probed=Probed(has_started=True, unhealthy="liveness"))

    plan = decide(pod, ready_pod(proxy=sick, main=running()), at(1))

    assert plan.actions == (BeginToStop("proxy", 0, "Init container proxy failed liveness probe"),)


def test_an_image_that_could_not_be_had_is_asked_for_again_later() -> None:
    failed = Setback(reason="ErrImagePull", message="no route", at=at(0), times=2, image="tool")
    seen = ready_pod(main=ContainerSeen(setback=failed))

    plan = decide(a_pod(), seen, at(5))

    assert plan.actions == ()
    assert plan.look_again == at(20)
    assert decide(a_pod(), seen, at(20)).actions == (GetImage("main", 0),)


def test_the_moment_at_which_an_error_turns_into_a_wait_is_looked_for() -> None:
    failed = Setback(reason="ErrImagePull", message="no route", at=at(0), image="tool")
    crashed = ContainerSeen(tries=(ended(1, 0), ended(1, 1, since=1, until=2)))

    assert decide(a_pod(), ready_pod(main=ContainerSeen(setback=failed)), at(0)).look_again == at(1)
    assert decide(a_pod(), ready_pod(main=crashed), at(2)).look_again == at(3)
    assert decide(a_pod(), ready_pod(main=crashed), at(3)).look_again == at(12)


def test_a_pod_that_has_ended_is_never_started_again_whatever_is_seen() -> None:
    first = decide(a_pod(restartPolicy="OnFailure"), ready_pod(main=ended(0)), at(2))
    pod = a_pod(restartPolicy="OnFailure", status=first.status)

    again = decide(pod, ready_pod(main=never_tried()), at(100))

    assert first.status.phase == "Succeeded"
    assert again.actions == (TearDown(),)
    assert status_of(again.status, "main") == status_of(first.status, "main")


def test_nothing_is_left_to_do_for_a_pod_that_runs() -> None:
    plan = decide(a_pod(), ready_pod(main=running()), at(5))

    assert plan.actions == ()
    assert plan.look_again is None


def test_the_deadline_of_a_pod_is_looked_for_again() -> None:
    status = msgspec.structs.replace(a_pod().status, start_time=at(0))
    pod = a_pod(activeDeadlineSeconds=60, status=status)

    assert decide(pod, ready_pod(main=running()), at(5)).look_again == at(60)


def test_a_clock_that_is_set_back_makes_no_container_wait_longer() -> None:
    failed = (ended(1, 0, since=0, until=1), ended(1, 1, since=1, until=2))
    late = ContainerSeen(setback=Setback(reason="ErrImagePull", message="", at=at(2), times=3))

    assert decide(a_pod(), ready_pod(main=failed), at(5)).look_again == at(12)
    assert decide(a_pod(), ready_pod(main=failed), at(-3600)).actions == (Start("main", 2),)
    assert decide(a_pod(), ready_pod(main=late), at(-3600)).actions == (GetImage("main", 0),)
