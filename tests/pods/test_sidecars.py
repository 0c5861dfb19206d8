"""Native sidecars: init containers that stay."""

from typing import Any

from tests.pods.objects import (
    POLITE,
    Object,
    a_container,
    a_pod,
    ended,
    is_true,
    phase,
    restarts,
    status_of,
    when_told,
)
from tests.pods.place import Place

MOUNTS = [{"name": "shared", "mountPath": "/shared"}]
VOLUMES = [{"name": "shared", "emptyDir": {}}]


def sidecar(name: str, script: str, **more: Any) -> Object:
    return a_container(name, script, restartPolicy="Always", volumeMounts=MOUNTS, **more)


async def test_a_sidecar_has_started_before_the_rest_does(place: Place) -> None:
    helper = sidecar(
        "helper",
        f"sleep 1; touch /shared/up; {POLITE}",
        startupProbe={"exec": {"command": ["test", "-e", "/shared/up"]}, "periodSeconds": 1},
    )
    pod = a_pod(
        "helped",
        "test -e /shared/up && echo it was up",
        initContainers=[helper, a_container("next", "test -e /shared/up", volumeMounts=MOUNTS)],
        container={"volumeMounts": MOUNTS},
        volumes=VOLUMES,
    )
    pod = await place.finish(pod)
    assert phase(pod) == "Succeeded"
    assert await place.log("helped") == "it was up\n"


async def test_a_sidecar_does_not_keep_a_pod_from_ending_and_ends_last(place: Place) -> None:
    script = "trap 'ls /shared; exit 0' TERM; touch /shared/up; while :; do sleep 0.1; done"
    pod = a_pod(
        "worker",
        "until [ -e /shared/up ]; do sleep 0.1; done; touch /shared/done",
        initContainers=[sidecar("helper", script)],
        container={"volumeMounts": MOUNTS},
        volumes=VOLUMES,
        terminationGracePeriodSeconds=60,
    )
    pod = await place.finish(pod)
    assert phase(pod) == "Succeeded"
    assert ended(pod)["exitCode"] == 0
    assert ended(pod, "helper")["finishedAt"] >= ended(pod)["finishedAt"]
    assert await place.log("worker", "helper") == "done\nup\n"


async def test_a_sidecar_that_ends_is_started_again_whatever_the_policy(place: Place) -> None:
    script = f"if [ -e /shared/again ]; then {POLITE}; fi; touch /shared/again; exit 1"
    pod = a_pod(
        "supported",
        POLITE,
        initContainers=[sidecar("helper", script)],
        volumes=VOLUMES,
        restartPolicy="Never",
    )
    await place.create(pod)
    await place.until("supported", lambda pod: restarts(pod, "helper") == 1, "restarted")
    pod = await place.until_ready("supported")
    assert restarts(pod) == 0
    assert status_of(pod, "helper")["started"] is True


async def test_a_pod_is_as_ready_as_its_sidecars(place: Place) -> None:
    helper = sidecar(
        "helper",
        POLITE,
        readinessProbe={"exec": {"command": ["test", "-e", "/shared/ready"]}, "periodSeconds": 1},
    )
    await place.create(a_pod("patient", POLITE, initContainers=[helper], volumes=VOLUMES))
    pod = await place.until("patient", lambda pod: bool(status_of(pod).get("ready")), "half ready")
    assert not is_true(pod, "Ready")
    await place.sh("patient", "touch /shared/ready", "helper")
    await place.until_ready("patient")


async def test_a_failing_sidecar_does_not_fail_the_pod(place: Place) -> None:
    helper = sidecar("helper", when_told("exit 3"))
    pod = a_pod("content", "sleep 1", initContainers=[helper], volumes=VOLUMES)
    pod = await place.finish(pod)
    assert phase(pod) == "Succeeded"
    assert ended(pod, "helper")["exitCode"] != 0
