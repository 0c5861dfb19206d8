"""A pod from its beginning to its end: phases, container statuses, conditions."""

import asyncio
from contextlib import aclosing

from tests.pods.objects import (
    GATE,
    WAIT,
    a_container,
    a_pod,
    condition,
    ended,
    is_true,
    phase,
    state_of,
    status_of,
    waits_for,
)
from tests.pods.place import LIMIT_S, Place


async def test_a_pod_that_runs_says_so_in_all_places(place: Place) -> None:
    pod = await place.run(a_pod("steady"))
    status, main = pod["status"], status_of(pod)
    assert status["phase"] == "Running"
    for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready"):
        assert is_true(pod, kind), kind
    assert main["ready"] is True
    assert main["started"] is True
    assert main["restartCount"] == 0
    assert main["lastState"] == {}
    assert main["containerID"]
    assert main["imageID"]
    assert main["image"]
    assert status["startTime"] <= main["state"]["running"]["startedAt"]
    assert status["podIPs"][0]["ip"] == status["podIP"]
    assert status["hostIP"]
    assert pod["spec"]["nodeName"] == place.home.node


async def test_phases_come_in_their_order_and_none_comes_back(place: Place) -> None:
    pod = a_pod("traveller", "exit 0", restartPolicy="Never")
    seen: list[str] = []

    async def follow() -> None:
        async with aclosing(place.states("traveller")) as states:
            async for event in states:
                if not isinstance(event.object, dict):
                    continue
                now = phase(event.object)
                if not seen or seen[-1] != now:
                    seen.append(now)
                if now == "Succeeded":
                    return

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(follow())
        await place.create(pod)
    # Whoever looks at a pod that ends at once may miss that it ran.
    assert seen in (["Pending", "Running", "Succeeded"], ["Pending", "Succeeded"])


async def test_a_pod_that_ends_well_has_succeeded(place: Place) -> None:
    pod = await place.finish(a_pod("good", "echo done"))
    assert phase(pod) == "Succeeded"
    assert ended(pod)["exitCode"] == 0
    assert ended(pod)["reason"] == "Completed"
    assert ended(pod)["startedAt"] <= ended(pod)["finishedAt"]
    assert ended(pod)["containerID"] == status_of(pod)["containerID"]
    assert status_of(pod)["ready"] is False
    assert condition(pod, "Ready")["reason"] == "PodCompleted"
    assert condition(pod, "ContainersReady")["reason"] == "PodCompleted"


async def test_a_pod_that_ends_badly_has_failed_with_its_exit_code(place: Place) -> None:
    pod = await place.finish(a_pod("bad", "exit 3"))
    assert phase(pod) == "Failed"
    assert ended(pod)["exitCode"] == 3
    assert ended(pod)["reason"] == "Error"
    assert condition(pod, "Ready")["reason"] == "PodFailed"


async def test_a_program_that_is_not_there_cannot_be_started(place: Place) -> None:
    pod = await place.finish(a_pod("lost", container={"command": ["/no/such/program"]}))
    assert phase(pod) == "Failed"
    assert ended(pod)["exitCode"] == 128
    assert ended(pod)["reason"] == "StartError"
    assert "/no/such/program" in ended(pod)["message"]


async def test_a_pod_has_ended_when_its_last_container_has(place: Place) -> None:
    quick, slow = a_container("quick", "exit 4"), a_container("slow", GATE)
    await place.create(a_pod("pair", containers=[quick, slow], restartPolicy="Never"))
    between = await place.until(
        "pair",
        lambda pod: bool(ended(pod, "quick")) and "running" in state_of(pod, "slow"),
        "half way",
    )
    assert phase(between) == "Running"
    assert not is_true(between, "Ready")
    assert condition(between, "ContainersReady")["reason"] == "ContainersNotReady"
    assert "[quick]" in condition(between, "ContainersReady")["message"]
    await place.open_gate("pair", "slow")
    pod = await place.until_ended("pair")
    assert phase(pod) == "Failed"
    assert ended(pod, "slow")["exitCode"] == 0


async def test_containers_are_said_to_be_created_before_they_run(place: Place) -> None:
    pod = a_pod("early", volumes=[{"name": "v", "configMap": {"name": "not-yet"}}])
    await place.create(pod)
    pod = await place.until_waiting("early", "ContainerCreating")
    assert phase(pod) == "Pending"
    assert status_of(pod)["ready"] is False
    assert not is_true(pod, "Ready")
    assert is_true(pod, "PodScheduled")
    assert is_true(pod, "Initialized")


async def test_a_pod_that_is_active_for_too_long_has_failed(place: Place) -> None:
    pod = await place.finish(a_pod("late", activeDeadlineSeconds=3, restartPolicy="Always"))
    assert phase(pod) == "Failed"
    assert pod["status"]["reason"] == "DeadlineExceeded"
    assert "longer than the specified deadline" in pod["status"]["message"]
    pod = await place.until("late", lambda pod: bool(ended(pod)), "stopped")
    assert ended(pod)["exitCode"] == 137


async def test_containers_of_a_pod_share_its_address_and_not_their_files(place: Place) -> None:
    writer = a_container("writer", f"echo mine >/tmp/note; {WAIT}")
    other = a_container("other", WAIT)
    await place.run(a_pod("two", containers=[writer, other]))
    read = "cat /tmp/note || echo nothing"
    await place.eventually("two", read, lambda said: said == "mine\n", container="writer")
    assert await place.sh("two", read, "other") == "nothing\n"
    address = "hostname; cat /proc/net/fib_trie"
    assert await place.sh("two", address, "writer") == await place.sh("two", address, "other")


async def test_a_pod_sees_its_own_processes_only(place: Place) -> None:
    await place.run(a_pod("alone"))
    first = "tr '\\0' ' ' </proc/1/cmdline"
    await place.eventually("alone", first, lambda said: said == "sleep 100000 ")
    count = await place.sh("alone", "ls -d /proc/[0-9]* | wc -l")
    assert int(count) < 8


async def test_a_pod_of_the_hosts_network_has_the_nodes_address(place: Place) -> None:
    pod = await place.run(a_pod("guest", hostNetwork=True))
    assert pod["status"]["podIP"] == pod["status"]["hostIP"]


async def test_a_waiting_container_says_why_to_kubectl(place: Place) -> None:
    await place.create(a_pod("hasty", "exit 1"))
    await place.until("hasty", lambda pod: waits_for(pod) == "CrashLoopBackOff", "backing off")
    await place.until_shown("hasty", ["0/1", "CrashLoopBackOff"])


async def test_containers_may_share_their_processes(place: Place) -> None:
    one, two = a_container("one", WAIT), a_container("two", "exec sleep 54321")
    await place.run(a_pod("pair", containers=[one, two], shareProcessNamespace=True))
    look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"
    await place.eventually("pair", look, lambda said: "sleep 54321" in said, container="one")
