"""Init containers: one after the other, each to its end, before anything else."""

from tests.pods.objects import (
    GATE,
    WAIT,
    Object,
    a_container,
    a_pod,
    condition,
    ended,
    is_true,
    phase,
    restarts,
    state_of,
    status_of,
    waits_for,
)
from tests.pods.place import Place

MOUNTS = [{"name": "shared", "mountPath": "/shared"}]
VOLUMES = [{"name": "shared", "emptyDir": {}}]


def init(name: str, script: str) -> Object:
    return a_container(name, script, volumeMounts=MOUNTS)


async def test_they_run_one_after_the_other_and_before_the_rest(place: Place) -> None:
    slow = "echo {0} begins >>/shared/order; sleep 0.3; echo {0} ends >>/shared/order"
    pod = a_pod(
        "orderly",
        "cat /shared/order",
        initContainers=[init(name, slow.format(name)) for name in ("one", "two", "three")],
        container={"volumeMounts": MOUNTS},
        volumes=VOLUMES,
    )
    pod = await place.finish(pod)
    assert (await place.log("orderly")).splitlines() == [
        f"{name} {does}" for name in ("one", "two", "three") for does in ("begins", "ends")
    ]
    for name in ("one", "two", "three"):
        assert ended(pod, name)["exitCode"] == 0
        assert ended(pod, name)["finishedAt"] <= ended(pod)["startedAt"]
        assert status_of(pod, name)["ready"] is True


async def test_a_pod_that_is_initialized_waits_and_says_for_whom(place: Place) -> None:
    gate = init("gate", GATE)
    await place.create(
        a_pod("gated", initContainers=[gate, init("next", "exit 0")], volumes=VOLUMES)
    )
    pod = await place.until("gated", lambda pod: "running" in state_of(pod, "gate"), "at the gate")
    assert phase(pod) == "Pending"
    assert waits_for(pod) == "PodInitializing"
    assert waits_for(pod, "next") == "PodInitializing"
    assert not is_true(pod, "Initialized")
    assert condition(pod, "Initialized")["reason"] == "ContainersNotInitialized"
    assert "[gate next]" in condition(pod, "Initialized")["message"]
    shown = (await place.kubectl("get", "pod", "gated", "--no-headers")).stdout
    assert shown.split()[1:3] == ["0/1", "Init:0/2"]
    await place.open_gate("gated", "gate")
    assert is_true(await place.until_ready("gated"), "Initialized")


async def test_a_pod_whose_init_container_fails_for_good_has_failed(place: Place) -> None:
    pod = await place.finish(a_pod("broken", initContainers=[a_container("first", "exit 7")]))
    assert phase(pod) == "Failed"
    assert ended(pod, "first")["exitCode"] == 7
    assert ended(pod, "first")["reason"] == "Error"
    assert "running" not in state_of(pod)
    assert ended(pod) == {}


async def test_an_init_container_that_fails_is_tried_again(place: Place) -> None:
    first = init("first", "if [ -e /shared/again ]; then exit 0; fi; touch /shared/again; exit 1")
    await place.create(a_pod("stubborn", initContainers=[first], volumes=VOLUMES))
    pod = await place.until_ready("stubborn")
    assert restarts(pod, "first") == 1
    assert restarts(pod) == 0


async def test_init_containers_do_not_run_again_for_a_restarted_container(place: Place) -> None:
    pod = a_pod(
        "loyal",
        f"if [ -e /shared/again ]; then {WAIT}; fi; touch /shared/again; exit 1",
        initContainers=[init("first", "echo init >>/shared/order")],
        container={"volumeMounts": MOUNTS},
        volumes=VOLUMES,
    )
    await place.create(pod)
    pod = await place.until("loyal", lambda pod: restarts(pod) == 1, "restarted")
    await place.until_ready("loyal")
    assert restarts(pod, "first") == 0
    assert await place.sh("loyal", "cat /shared/order") == "init\n"
