"""What becomes of a container that has ended, by the pod's restart policy."""

import pytest
from tests.pods.objects import (
    WAIT,
    a_pod,
    ended,
    ended_before,
    phase,
    restarts,
    status_of,
    when_told,
)
from tests.pods.place import Place

SHARED = {
    "volumes": [{"name": "shared", "emptyDir": {}}],
    "container": {"volumeMounts": [{"name": "shared", "mountPath": "/shared"}]},
}
TWICE = "if [ -e /shared/again ]; then {then}; fi; touch /shared/again; {first}"
"""A script that does one thing the first time and another from then on."""


async def test_always_starts_also_what_has_ended_well(place: Place) -> None:
    await place.create(a_pod("again", TWICE.format(first="exit 0", then=WAIT), **SHARED))
    pod = await place.until("again", lambda pod: restarts(pod) == 1, "restarted")
    assert phase(pod) == "Running"
    assert ended_before(pod)["exitCode"] == 0
    assert ended_before(pod)["reason"] == "Completed"
    assert ended_before(pod)["containerID"] != status_of(pod)["containerID"]
    await place.until_ready("again")


async def test_on_failure_starts_what_has_failed_until_it_succeeds(place: Place) -> None:
    script = TWICE.format(first="exit 5", then="exit 0")
    pod = await place.finish(a_pod("retry", script, restartPolicy="OnFailure", **SHARED))
    assert phase(pod) == "Succeeded"
    assert restarts(pod) == 1
    assert ended(pod)["exitCode"] == 0


async def test_on_failure_leaves_alone_what_has_ended_well(place: Place) -> None:
    pod = await place.finish(a_pod("once", "exit 0", restartPolicy="OnFailure"))
    assert phase(pod) == "Succeeded"
    assert restarts(pod) == 0


async def test_never_is_never(place: Place) -> None:
    pod = await place.finish(a_pod("never", "exit 1", restartPolicy="Never"))
    assert phase(pod) == "Failed"
    assert restarts(pod) == 0
    assert ended_before(pod) == {}


async def test_a_container_that_keeps_ending_is_backed_off_from(place: Place) -> None:
    await place.create(a_pod("crash", "echo one more; exit 7"))
    pod = await place.until_waiting("crash", "CrashLoopBackOff")
    assert phase(pod) == "Running"
    assert restarts(pod) >= 1
    assert ended_before(pod)["exitCode"] == 7
    assert "back-off" in status_of(pod)["state"]["waiting"]["message"]
    await place.until_event("crash", "BackOff", "Back-off restarting failed container main")
    # And comes back when the time is over.
    now = restarts(pod)
    await place.until("crash", lambda pod: restarts(pod) > now, "tried once more")


async def test_a_restarted_container_has_the_pods_address_and_volumes_but_a_fresh_root(
    place: Place,
) -> None:
    first = "echo kept >/shared/note; echo lost >/tmp/note; exit 1"
    then = f"cat /shared/note; cat /tmp/note 2>/dev/null || echo fresh; {WAIT}"
    await place.create(a_pod("reborn", TWICE.format(first=first, then=then), **SHARED))
    before = await place.until("reborn", lambda pod: "podIP" in pod["status"], "with an address")
    await place.until("reborn", lambda pod: restarts(pod) == 1, "restarted")
    after = await place.until_ready("reborn")
    assert after["status"]["podIP"] == before["status"]["podIP"]
    await place.until_said("reborn", "kept\nfresh\n")


@pytest.mark.parametrize("policy", ["Always", "OnFailure"])
async def test_a_container_killed_from_outside_is_started_again(place: Place, policy: str) -> None:
    await place.run(a_pod("victim", when_told("exit 9"), restartPolicy=policy))
    await place.until_listening("victim")
    # Whoever does this may go down with it.
    await place.try_sh("victim", "kill -TERM 1")
    pod = await place.until("victim", lambda pod: restarts(pod) == 1, "restarted")
    assert ended_before(pod)["exitCode"] == 9
    await place.until_ready("victim")
