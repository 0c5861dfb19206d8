"""How a pod ends: who is asked when, who is killed when, and what is left at the end."""

from typing import Any

import msgspec
import pytest
from tests.unit.embedded.node.objects import (
    a_pod,
    at,
    condition,
    container,
    ended,
    never_tried,
    ready_pod,
    running,
    status_of,
)

from kubevirt.api.core.pod import Pod, PodStatus
from kubevirt.embedded.node.actions import (
    BeginToStop,
    Delete,
    Kill,
    RunPreStop,
    TearDown,
    Terminate,
)
from kubevirt.embedded.node.life import Plan, decide
from kubevirt.embedded.node.seen import Hook, PodSeen, Probed, Stopping, Tried, Verdict

HOOK = {"preStop": {"exec": {"command": ["true"]}}}
STOP_MAIN = BeginToStop("main", 0, "Stopping container main")


def deleted(*containers: dict[str, Any], grace: int = 30, **more: Any) -> Pod:
    metadata = {"deletionTimestamp": at(grace).isoformat(), "deletionGracePeriodSeconds": grace}
    return a_pod(*containers, metadata=metadata, **more)


def stopping(since: float = 0, **more: Any) -> Tried:
    return running(stopping=Stopping(since=at(since), **more))


def after(pod: Pod, seconds: float, **containers: Any) -> Plan:
    return decide(pod, ready_pod(**containers), at(seconds))


def test_a_deleted_pod_is_asked_to_end_and_killed_when_its_grace_is_over() -> None:
    pod = deleted()

    assert after(pod, 0, main=running()).actions == (STOP_MAIN,)
    assert after(pod, 0, main=stopping()).actions == (Terminate("main", 0),)
    asked = stopping(asked_at=at(0))
    assert after(pod, 29, main=asked).actions == ()
    assert after(pod, 29, main=asked).look_again == at(30)
    assert after(pod, 30, main=asked).actions == (Kill("main", 0),)
    assert after(pod, 31, main=stopping(asked_at=at(0), is_killed=True)).actions == ()


def test_a_pod_without_any_grace_still_has_two_seconds() -> None:
    asked = stopping(asked_at=at(0))

    assert after(deleted(grace=0), 1, main=asked).look_again == at(2)
    assert after(deleted(grace=0), 2, main=asked).actions == (Kill("main", 0),)


def test_the_pre_stop_hook_runs_first_and_counts_against_the_grace_period() -> None:
    pod = deleted(container("main", lifecycle=HOOK))

    assert after(pod, 0, main=stopping()).actions == (RunPreStop("main", 0, 30.0),)
    assert after(pod, 5, main=stopping(pre_stop=Hook.RUNNING)).actions == ()
    assert after(pod, 5, main=stopping(pre_stop=Hook.RUNNING)).look_again == at(30)
    for hook in (Hook.DONE, Hook.FAILED):
        assert after(pod, 5, main=stopping(pre_stop=hook)).actions == (Terminate("main", 0),)
    late = stopping(pre_stop=Hook.RUNNING)
    assert after(pod, 30, main=late).actions == (Terminate("main", 0),)
    asked = stopping(pre_stop=Hook.RUNNING, asked_at=at(30))
    assert after(pod, 31, main=asked).look_again == at(32)
    assert after(pod, 32, main=asked).actions == (Kill("main", 0),)


def test_a_pre_stop_hook_does_not_begin_when_the_grace_period_is_over() -> None:
    pod = deleted(container("main", lifecycle=HOOK), grace=0)

    assert after(pod, 0, main=stopping()).actions == (Terminate("main", 0),)


def test_sidecars_end_last_in_reverse_order() -> None:
    inits = tuple(container(name, restartPolicy="Always") for name in ("first", "second"))
    pod = deleted(inits=inits)
    gone = ended(0)

    both = after(pod, 1, first=stopping(), second=stopping(), main=stopping(asked_at=at(0)))
    assert both.actions == ()
    after_main = after(pod, 2, first=stopping(), second=stopping(), main=gone)
    assert after_main.actions == (Terminate("second", 0),)
    last = after(pod, 3, first=stopping(), second=gone, main=gone)
    assert last.actions == (Terminate("first", 0),)


def test_a_sidecar_does_not_wait_for_its_turn_longer_than_the_grace_period() -> None:
    pod = deleted(inits=(container("proxy", restartPolicy="Always"),))
    stubborn = stopping(asked_at=at(0), is_killed=True)

    plan = after(pod, 30, proxy=stopping(), main=stubborn)

    assert plan.actions == (Terminate("proxy", 0),)


def test_a_deleted_pod_is_torn_down_and_then_gone() -> None:
    pod = deleted()
    seen = ready_pod(main=ended(143))

    assert decide(pod, seen, at(1)).actions == (TearDown(),)
    torn_down = msgspec.structs.replace(seen, is_torn_down=True)
    assert decide(pod, torn_down, at(1)).actions == (Delete(),)


def test_a_pod_that_has_done_its_work_is_torn_down_and_stays() -> None:
    pod = a_pod(restartPolicy="Never")
    seen = ready_pod(main=ended(0))
    torn_down = msgspec.structs.replace(seen, is_torn_down=True)

    assert decide(pod, seen, at(2)).actions == (TearDown(),)
    assert decide(pod, torn_down, at(2)).actions == ()


def test_the_sidecars_of_a_pod_that_has_done_its_work_are_stopped() -> None:
    pod = a_pod(inits=(container("proxy", restartPolicy="Always"),), restartPolicy="Never")

    plan = after(pod, 2, proxy=running(), main=ended(0))

    assert plan.actions == (BeginToStop("proxy", 0, "Stopping container proxy"),)
    assert plan.status.phase == "Running"
    assert after(pod, 3, proxy=ended(143), main=ended(0)).status.phase == "Succeeded"


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (143, "Failed")])
def test_a_deleted_pod_ends_by_its_exit_codes(code: int, phase: str) -> None:
    plan = after(deleted(), 1, main=ended(code))

    assert plan.status.phase == phase


def test_a_pod_deleted_before_it_began_has_failed() -> None:
    plan = decide(deleted(), PodSeen(), at(0))

    terminated = status_of(plan.status, "main").state
    assert plan.status.phase == "Failed"
    assert terminated
    assert terminated.terminated
    assert terminated.terminated.exit_code == 137
    assert terminated.terminated.reason == "ContainerStatusUnknown"


def test_a_pod_beyond_its_deadline_is_ended_and_has_failed() -> None:
    status = PodStatus(start_time=at(0))
    pod = a_pod(activeDeadlineSeconds=60, status=status)

    late = after(pod, 60, main=running())
    assert late.actions == (STOP_MAIN,)
    assert (late.status.phase, late.status.reason) == ("Running", "DeadlineExceeded")
    told = msgspec.structs.replace(pod, status=late.status)
    over = after(told, 61, main=ended(0))
    assert (over.status.phase, over.status.reason) == ("Failed", "DeadlineExceeded")
    assert over.status.message == "Pod was active on the node longer than the specified deadline"


def test_an_evicted_pod_says_so() -> None:
    why = "The node was low on resource: memory."
    seen = msgspec.structs.replace(
        ready_pod(main=running()), verdict=Verdict(reason="Evicted", message=why)
    )

    plan = decide(a_pod(), seen, at(1))

    assert plan.actions == (STOP_MAIN,)
    disrupted = condition(plan.status, "DisruptionTarget")
    assert (disrupted.status, disrupted.reason, disrupted.message) == (
        "True",
        "TerminationByKubelet",
        why,
    )


def test_an_eviction_is_remembered_by_the_status_alone() -> None:
    status = PodStatus(phase="Running", reason="Evicted", message="low on memory")
    pod = a_pod(status=status)

    assert after(pod, 1, main=running()).actions == (STOP_MAIN,)
    assert after(pod, 1, main=ended(0)).status.phase == "Failed"


def test_a_pod_that_is_not_let_in_never_begins() -> None:
    no = Verdict(reason="NodeAffinity", message="Predicate NodeAffinity failed", is_refusal=True)

    plan = decide(a_pod(), PodSeen(verdict=no), at(0))

    assert plan.actions == (TearDown(),)
    assert (plan.status.phase, plan.status.reason) == ("Failed", "NodeAffinity")
    assert plan.status.message == "Pod was rejected: Predicate NodeAffinity failed"
    assert plan.status.container_statuses == ()
    pod = a_pod(status=plan.status)
    assert decide(pod, ready_pod(main=never_tried()), at(9)).status.phase == "Failed"


def test_a_container_that_a_probe_gave_up_has_the_grace_of_the_probe() -> None:
    probe = {"exec": {"command": ["true"]}, "terminationGracePeriodSeconds": 5}
    pod = a_pod(container("main", livenessProbe=probe))
    sick = running(
        probed=Probed(has_started=True, unhealthy="liveness"),
        stopping=Stopping(since=at(0), asked_at=at(0)),
    )

    assert after(pod, 4, main=sick).look_again == at(5)
    assert after(pod, 5, main=sick).actions == (Kill("main", 0),)


def test_a_clock_that_is_set_back_gives_nobody_more_time() -> None:
    pod = deleted()

    assert after(pod, -3600, main=stopping(asked_at=at(0))).actions == (Kill("main", 0),)
    assert after(pod, -3600, main=stopping()).actions == (Terminate("main", 0),)
    assert after(pod, -0.5, main=stopping(asked_at=at(0))).actions == ()
