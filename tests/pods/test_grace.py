"""How a pod ends that is deleted: it is told, it has time, and then it has none."""

import asyncio
import time

import pytest
from tests.pods.objects import POLITE, WAIT, a_container, a_pod, ended, is_true, phase, when_told
from tests.pods.place import ENDED, Place


async def test_a_deleted_pod_is_told_and_ends_in_its_own_way(place: Place) -> None:
    script = f"echo hello; {when_told('echo goodbye')}"
    await place.run(a_pod("kind", script, terminationGracePeriodSeconds=30))
    await place.until_listening("kind")
    async with asyncio.TaskGroup() as tasks:
        said = tasks.create_task(place.log("kind", follow=True))
        began = time.monotonic()
        await place.delete("kind")
        last = await place.until_gone("kind")
    assert time.monotonic() - began < 25
    assert said.result() == "hello\ngoodbye\n"
    assert phase(last) == "Succeeded"
    assert ended(last)["exitCode"] == 0


async def test_a_pod_that_does_not_listen_is_killed_when_its_time_is_over(place: Place) -> None:
    await place.run(a_pod("deaf", WAIT, terminationGracePeriodSeconds=3))
    began = time.monotonic()
    await place.delete("deaf")
    pod = await place.pod("deaf")
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 3
    assert pod["metadata"]["deletionTimestamp"]
    last = await place.until_gone("deaf")
    assert time.monotonic() - began > 2
    assert phase(last) == "Failed"
    assert ended(last)["exitCode"] == 137


async def test_a_deleted_pod_is_not_ready_while_it_ends(place: Place) -> None:
    script = when_told("sleep 5")
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    pod = a_pod("leaving", script, terminationGracePeriodSeconds=30)
    pod["spec"]["containers"][0]["readinessProbe"] = probe
    await place.run(pod)
    await place.until_listening("leaving")
    await place.delete("leaving")
    pod = await place.until("leaving", lambda pod: not is_true(pod, "Ready"), "no longer ready")
    assert pod["metadata"]["deletionTimestamp"]
    await place.until_gone("leaving")


async def test_whoever_deletes_may_give_less_time(place: Place) -> None:
    await place.run(a_pod("patient", WAIT, terminationGracePeriodSeconds=600))
    await place.delete("patient", grace_s=1)
    pod = await place.pod("patient")
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 1
    await place.until_gone("patient")


async def test_a_pod_that_takes_its_time_may_be_deleted_by_force_meanwhile(place: Place) -> None:
    await place.run(a_pod("hurried", WAIT, terminationGracePeriodSeconds=600))
    await place.delete("hurried")
    await place.until_event("hurried", "Killing")
    await place.delete("hurried", grace_s=0)
    assert not await place.is_there("hurried")


async def test_a_pod_deleted_by_force_is_gone_at_once_and_its_processes_soon(
    place: Place, host_folder: str
) -> None:
    volumes = [{"name": "beat", "hostPath": {"path": host_folder, "type": "DirectoryOrCreate"}}]
    container = {"volumeMounts": [{"name": "beat", "mountPath": "/beat"}]}
    script = "while :; do date +%s%N >/beat/new; mv /beat/new /beat/last; sleep 0.1; done"
    watcher = a_pod("watcher", WAIT, container=container, volumes=volumes)
    await place.run(a_pod("heart", script, container=container, volumes=volumes))
    await place.run(watcher)
    look = "cat /beat/last; sleep 1; cat /beat/last"
    await place.eventually("watcher", look, lambda said: len(set(said.split())) == 2)
    await place.delete("heart", grace_s=0)
    assert not await place.is_there("heart")
    await place.eventually("watcher", look, lambda said: len(set(said.split())) == 1)


async def test_all_containers_are_told_at_the_same_time(place: Place) -> None:
    names = ("one", "two", "three")
    containers = [a_container(name, when_told("sleep 4")) for name in names]
    await place.run(a_pod("trio", containers=containers, terminationGracePeriodSeconds=9))
    for name in names:
        await place.until_listening("trio", name)
    await place.delete("trio")
    last = await place.until_gone("trio")
    assert [ended(last, name)["exitCode"] for name in names] == [0, 0, 0]


async def test_a_pod_that_is_deleted_before_it_could_start_just_goes(place: Place) -> None:
    await place.create(a_pod("unborn", volumes=[{"name": "v", "configMap": {"name": "nowhere"}}]))
    await place.until_waiting("unborn", "ContainerCreating")
    await place.delete("unborn")
    await place.until_gone("unborn")


async def test_a_pod_that_has_ended_just_goes(place: Place) -> None:
    await place.finish(a_pod("old", "exit 0", terminationGracePeriodSeconds=600))
    await place.delete("old")
    await place.until_gone("old")


@pytest.mark.parametrize("finalizer", ["example.org/hold"])
async def test_a_finalizer_holds_a_pod_that_has_ended(place: Place, finalizer: str) -> None:
    pod = a_pod("held", POLITE)
    pod["metadata"]["finalizers"] = [finalizer]
    await place.run(pod)
    await place.delete("held")
    pod = await place.until("held", lambda pod: phase(pod) in ENDED, "at its end")
    assert pod["metadata"]["deletionTimestamp"]
    await place.change("held", {"metadata": {"finalizers": None}})
    await place.until_gone("held")


async def test_kubectl_delete_returns_when_the_pod_is_gone(place: Place) -> None:
    await place.run(a_pod("brief", POLITE))
    said = await place.kubectl("delete", "pod", "brief")
    assert 'pod "brief" deleted' in said.stdout
    assert not await place.is_there("brief")
