"""What is done after the machine, or the home, was down: what ran before counts, but is no more."""

from msgspec.structs import replace
from tests.unit.embedded.node.objects import (
    a_pod,
    at,
    container,
    ended,
    ready_pod,
    running,
    status_of,
)

from kubevirt.api.core.pod import PodStatus
from kubevirt.embedded.node.actions import Start
from kubevirt.embedded.node.life import decide
from kubevirt.embedded.node.seen import Ended, Tried

RUNNING = PodStatus(phase="Running", start_time=at(0))


def lost(number: int = 0, **more: object) -> Tried:
    tried = Tried(
        number=number, started_at=at(0), ended=Ended(code=137, at=None), is_of_before=True
    )
    return replace(tried, **more)


def of_before(tried: Tried) -> Tried:
    return replace(tried, is_of_before=True)


def test_init_containers_run_again_before_all_others() -> None:
    pod = a_pod(inits=(container("first"), container("second")), status=RUNNING)
    seen = ready_pod(first=of_before(ended(0)), second=of_before(ended(0)), main=lost())

    plan = decide(pod, seen, at(100))

    assert plan.actions == (Start("first", 1),)
    assert plan.status.phase == "Pending"


def test_a_container_goes_on_when_its_init_containers_have_run_again() -> None:
    pod = a_pod(inits=(container("first"),), status=RUNNING)
    seen = ready_pod(first=(of_before(ended(0)), ended(0, number=1)), main=lost())

    plan = decide(pod, seen, at(100))

    assert plan.actions == (Start("main", 1),)
    assert plan.status.phase == "Running"


def test_a_pod_that_is_never_started_again_has_failed() -> None:
    pod = a_pod(restartPolicy="Never", status=RUNNING)

    plan = decide(pod, ready_pod(main=lost()), at(100))

    assert plan.status.phase == "Failed"
    state = status_of(plan.status, "main").state
    assert state is not None
    assert state.terminated is not None
    assert (state.terminated.exit_code, state.terminated.reason) == (137, "ContainerStatusUnknown")


def test_a_container_that_had_done_its_work_is_left_alone() -> None:
    pod = a_pod(container("one"), container("two"), restartPolicy="OnFailure", status=RUNNING)
    seen = ready_pod(one=of_before(ended(0)), two=lost())

    plan = decide(pod, seen, at(100))

    assert plan.actions == (Start("two", 1),)


def test_a_sidecar_that_was_there_before_is_no_reason_to_go_on() -> None:
    sidecar = container("beside", restartPolicy="Always")
    pod = a_pod(inits=(sidecar,), status=RUNNING)
    seen = ready_pod(beside=lost(), main=lost())

    assert decide(pod, seen, at(100)).actions == (Start("beside", 1),)

    seen = ready_pod(beside=(lost(), running(number=1)), main=lost())
    assert decide(pod, seen, at(100)).actions == (Start("main", 1),)


def test_who_did_as_it_was_asked_when_the_home_went_down_has_not_done_its_work() -> None:
    pod = a_pod(restartPolicy="OnFailure", status=RUNNING)
    ending = Ended(code=0, at=at(50), is_interrupted=True)
    seen = ready_pod(main=lost(ended=ending))

    plan = decide(pod, seen, at(100))

    assert plan.actions == (Start("main", 1),)
    state = status_of(plan.status, "main").state
    assert state is not None
    assert state.terminated is not None
    assert state.terminated.exit_code == 143


def test_a_success_that_the_server_would_not_take_back_is_shown_while_it_is_done_again() -> None:
    pod = a_pod(inits=(container("first"),), restartPolicy="OnFailure", status=RUNNING)
    seen = ready_pod(first=(of_before(ended(0)), running(number=1)), main=lost())

    state = status_of(decide(pod, seen, at(100)).status, "first").state

    assert state is not None
    assert state.terminated is not None
    assert state.terminated.exit_code == 0
