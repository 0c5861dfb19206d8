"""How a pod is told to be: states, phases and conditions in a kubelet's words."""

from typing import Any

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

from kubevirt.api.core.pod import (
    ContainerState,
    HostIP,
    Pod,
    PodCondition,
    PodIP,
    PodStatus,
)
from kubevirt.embedded.node.life import decide
from kubevirt.embedded.node.seen import (
    ContainerSeen,
    Ended,
    Hook,
    PodSeen,
    Probed,
    Setback,
    Tried,
)

PROBE = {"exec": {"command": ["true"]}}


def told(pod: Pod, seen: PodSeen, seconds: float = 2) -> PodStatus:
    return decide(pod, seen, at(seconds)).status


def state(pod: Pod, seen: PodSeen, seconds: float = 2, name: str = "main") -> ContainerState:
    found = status_of(told(pod, seen, seconds), name).state
    assert found is not None
    return found


def waiting(found: ContainerState | None) -> tuple[str | None, str | None]:
    assert found is not None
    assert found.waiting is not None
    return found.waiting.reason, found.waiting.message


def test_a_new_pod_is_pending_and_its_container_is_created() -> None:
    status = told(a_pod(), PodSeen(host_addresses=("192.0.2.1",)))

    assert status.phase == "Pending"
    assert waiting(status_of(status, "main").state) == ("ContainerCreating", None)
    assert status.start_time == at(2)
    assert (status.host_ip, status.host_i_ps) == ("192.0.2.1", (HostIP(ip="192.0.2.1"),))
    assert status.pod_ip is None
    assert {each.type: each.status for each in status.conditions} == {
        "PodReadyToStartContainers": "False",
        "Initialized": "True",
        "Ready": "False",
        "ContainersReady": "False",
        "PodScheduled": "True",
    }


def test_a_pod_that_runs_is_ready() -> None:
    status = told(a_pod(), ready_pod(main=running(image_id="sha256:1")))

    main = status_of(status, "main")
    assert status.phase == "Running"
    assert (status.pod_ip, status.pod_i_ps) == ("10.0.0.5", (PodIP(ip="10.0.0.5"),))
    assert (main.ready, main.started, main.restart_count) == (True, True, 0)
    assert (main.image, main.image_id, main.container_id) == ("tool", "sha256:1", "run://0")
    assert {each.status for each in status.conditions} == {"True"}
    assert {each.observed_generation for each in status.conditions} == {1}
    assert status.observed_generation == 1


@pytest.mark.parametrize(
    ("probes", "probed", "has_started", "is_ready"),
    [
        ({}, Probed(), True, True),
        ({"readinessProbe": PROBE}, Probed(), True, False),
        ({"readinessProbe": PROBE}, Probed(is_ready=True), True, True),
        ({"startupProbe": PROBE}, Probed(), False, False),
        ({"startupProbe": PROBE}, Probed(has_started=True), True, True),
        ({"startupProbe": PROBE, "readinessProbe": PROBE}, Probed(is_ready=True), False, False),
    ],
)
def test_probes_say_whether_a_container_has_started_and_is_ready(
    probes: dict[str, Any], probed: Probed, *, has_started: bool, is_ready: bool
) -> None:
    status = told(a_pod(container("main", **probes)), ready_pod(main=running(probed=probed)))

    main = status_of(status, "main")
    assert (main.started, main.ready) == (has_started, is_ready)
    ready = condition(status, "Ready")
    assert ready.status == str(is_ready)
    if not is_ready:
        assert ready.reason == "ContainersNotReady"
        assert ready.message == "containers with unready status: [main]"


def test_a_container_in_its_post_start_hook_is_not_told_to_run_yet() -> None:
    seen = ready_pod(main=running(post_start=Hook.RUNNING))

    assert waiting(state(a_pod(), seen)) == ("ContainerCreating", None)
    assert told(a_pod(), seen).phase == "Pending"


def test_containers_wait_for_the_init_containers() -> None:
    pod = a_pod(inits=(container("first"), container("second")))

    status = told(pod, ready_pod(first=running()))

    assert status.phase == "Pending"
    assert waiting(status_of(status, "second").state) == ("PodInitializing", None)
    assert waiting(status_of(status, "main").state) == ("PodInitializing", None)
    initialized = condition(status, "Initialized")
    assert initialized.reason == "ContainersNotInitialized"
    assert initialized.message == "containers with incomplete status: [first second]"


def test_an_init_container_that_is_done_is_ready() -> None:
    pod = a_pod(inits=(container("first"),))

    first = status_of(told(pod, ready_pod(first=ended(0), main=running())), "first")

    assert (first.ready, first.started) == (True, False)
    assert first.state
    assert first.state.terminated
    assert first.state.terminated.reason == "Completed"


def test_a_sidecar_that_is_not_ready_makes_the_pod_unready() -> None:
    proxy = container("proxy", restartPolicy="Always", readinessProbe=PROBE)
    pod = a_pod(inits=(proxy,))

    status = told(pod, ready_pod(proxy=running(probed=Probed()), main=running()))

    assert condition(status, "Ready").message == "containers with unready status: [proxy]"
    assert condition(status, "Initialized").status == "True"


def test_a_container_that_crashed_again_waits_for_its_next_try() -> None:
    tries = (ended(1, 0), ended(2, 1, since=1, until=2))

    status = told(a_pod(), ready_pod(main=tries), 3)

    main = status_of(status, "main")
    assert status.phase == "Running"
    assert waiting(main.state) == (
        "CrashLoopBackOff",
        "back-off 10s restarting failed container=main pod=web_home(u1)",
    )
    assert main.last_state
    assert main.last_state.terminated
    assert main.last_state.terminated.exit_code == 2
    assert main.restart_count == 1


def test_an_error_is_told_before_the_wait_that_follows_it() -> None:
    tries = (ended(1, 0), ended(2, 1, since=1, until=2))

    found = state(a_pod(), ready_pod(main=tries), 2.5).terminated

    assert found
    assert (found.exit_code, found.reason) == (2, "Error")


def test_a_container_that_runs_again_shows_how_it_ended_before() -> None:
    main = status_of(told(a_pod(), ready_pod(main=(ended(7), running(1)))), "main")

    assert main.state
    assert main.state.running
    assert main.last_state
    assert main.last_state.terminated
    assert main.last_state.terminated.exit_code == 7


@pytest.mark.parametrize(
    ("how", "code", "reason", "message"),
    [
        (Ended(code=0, at=at(1)), 0, "Completed", None),
        (Ended(code=3, at=at(1), message="bye"), 3, "Error", "bye"),
        (Ended(code=137, at=at(1), is_out_of_memory=True), 137, "OOMKilled", None),
        (Ended(code=127, at=at(1), failure="no such file"), 128, "StartError", "no such file"),
        (
            Ended(code=0),
            137,
            "ContainerStatusUnknown",
            (
                "The container could not be located when the pod was deleted."
                "  The container used to be Running"
            ),
        ),
    ],
)
def test_an_end_has_its_reason(how: Ended, code: int, reason: str, message: str | None) -> None:
    tried = Tried(number=0, started_at=at(0), ended=how)

    found = state(a_pod(restartPolicy="Never"), ready_pod(main=tried)).terminated

    assert found
    assert (found.exit_code, found.reason, found.message) == (code, reason, message)
    assert (found.started_at, found.finished_at) == (at(0), how.at)


@pytest.mark.parametrize(
    ("reason", "seconds", "shown", "message"),
    [
        ("ErrImagePull", 0, "ErrImagePull", "no route"),
        (
            "ErrImagePull",
            1,
            "ImagePullBackOff",
            'Back-off pulling image "tool": ErrImagePull: no route',
        ),
        ("ErrImageNeverPull", 1, "ErrImageNeverPull", "no route"),
        ("InvalidImageName", 1, "InvalidImageName", "no route"),
        ("CreateContainerConfigError", 1, "CreateContainerConfigError", "no route"),
    ],
)
def test_what_keeps_a_container_from_its_first_try_is_told(
    reason: str, seconds: float, shown: str, message: str
) -> None:
    failed = Setback(reason=reason, message="no route", at=at(0), image="tool")
    seen = ready_pod(main=ContainerSeen(setback=failed))

    assert waiting(state(a_pod(), seen, seconds)) == (shown, message)
    assert told(a_pod(), seen, seconds).phase == "Pending"


def test_one_container_that_never_ran_keeps_the_pod_pending() -> None:
    pod = a_pod(container("one"), container("two"))

    assert told(pod, ready_pod(one=running(), two=never_tried())).phase == "Pending"


@pytest.mark.parametrize(
    ("policy", "codes", "phase", "reason"),
    [
        ("Never", (0, 0), "Succeeded", "PodCompleted"),
        ("Never", (0, 1), "Failed", "PodFailed"),
        ("OnFailure", (0, 0), "Succeeded", "PodCompleted"),
        ("OnFailure", (0, 1), "Running", "ContainersNotReady"),
        ("Always", (0, 0), "Running", "ContainersNotReady"),
    ],
)
def test_the_phase_of_a_pod_whose_containers_have_ended(
    policy: str, codes: tuple[int, int], phase: str, reason: str
) -> None:
    pod = a_pod(container("one"), container("two"), restartPolicy=policy)

    status = told(pod, ready_pod(one=ended(codes[0]), two=ended(codes[1])))

    assert status.phase == phase
    assert condition(status, "Ready").reason == reason
    assert condition(status, "ContainersReady").reason == reason


def test_a_readiness_gate_is_somebody_elses_word() -> None:
    gates = [{"conditionType": "example.com/open"}, {"conditionType": "example.com/paid"}]
    closed = PodCondition(type="example.com/paid", status="False")
    pod = a_pod(readinessGates=gates, status=PodStatus(conditions=(closed,)))

    status = told(pod, ready_pod(main=running()))

    assert condition(status, "ContainersReady").status == "True"
    ready = condition(status, "Ready")
    assert (ready.status, ready.reason) == ("False", "ReadinessGatesNotReady")
    assert ready.message == (
        'corresponding condition of pod readiness gate "example.com/open" does not exist.,'
        ' the status of pod readiness gate "example.com/paid" is not "True", but False'
    )
    assert closed in status.conditions


def test_the_time_of_a_condition_changes_only_with_its_status() -> None:
    probed = container("main", readinessProbe=PROBE)
    first = told(a_pod(probed), ready_pod(main=running(probed=Probed())), 1)

    later = told(a_pod(probed, status=first), ready_pod(main=running()), 9)

    assert condition(first, "Ready").last_transition_time == at(1)
    assert condition(later, "Ready").last_transition_time == at(9)
    assert condition(later, "Initialized").last_transition_time == at(1)


def test_a_pod_keeps_its_address_after_its_end() -> None:
    first = told(a_pod(restartPolicy="Never"), ready_pod(main=ended(0)))
    pod = a_pod(restartPolicy="Never", status=first)

    later = told(pod, PodSeen(is_torn_down=True), 9)

    assert later.pod_ip == "10.0.0.5"
    assert condition(later, "PodReadyToStartContainers").status == "False"
    assert status_of(later, "main") == status_of(first, "main")


def test_asking_twice_changes_nothing() -> None:
    first = told(a_pod(), ready_pod(main=running()), 3)

    assert told(a_pod(status=first), ready_pod(main=running()), 500) == first
