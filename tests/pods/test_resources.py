"""What a container may use of the node, and what happens when it takes more."""

import pytest
from tests.pods.objects import Object, a_pod, ended, ended_before, phase, restarts
from tests.pods.place import Place

GREEDY = "exec dd if=/dev/zero of=/dev/null bs=256M count=1"


async def test_a_container_that_takes_too_much_memory_is_killed(place: Place) -> None:
    container = {"resources": {"limits": {"memory": "32Mi"}}}
    pod = await place.finish(a_pod("greedy", GREEDY, container=container))
    assert phase(pod) == "Failed"
    assert ended(pod)["reason"] == "OOMKilled"
    assert ended(pod)["exitCode"] == 137


async def test_and_is_started_again_if_it_may(place: Place) -> None:
    container = {"resources": {"limits": {"memory": "32Mi"}}}
    await place.create(a_pod("greedy", GREEDY, container=container))
    # A kubelet counts the restart now and then before it tells of the end that it was for.
    pod = await place.until("greedy", lambda pod: bool(ended_before(pod)), "restarted")
    assert ended_before(pod)["reason"] == "OOMKilled"
    assert restarts(pod) >= 1


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "10m"}}, "Burstable"),
        ({"limits": {"cpu": "100m", "memory": "32Mi"}}, "Guaranteed"),
    ],
)
async def test_a_pod_has_the_quality_that_its_resources_ask_for(
    place: Place, resources: Object, quality: str
) -> None:
    pod = await place.run(a_pod("rated", container={"resources": resources}))
    assert pod["status"]["qosClass"] == quality
