"""How a pod ends that is deleted: it is told, it has time, and then it has none."""

import asyncio
import time
from contextlib import aclosing

import pytest
from tests.pods.objects import (
    POLITE,
    WAIT,
    a_container,
    a_pod,
    ended,
    is_true,
    phase,
    when_told,
)
from tests.pods.place import ENDED, LIMIT_S, Place

from kubevirt.kube.watch import EventType


async def test_a_deleted_pod_is_told_and_ends_in_its_own_way(place: Place) -> None:
    script = f"echo hello; {when_told('echo goodbye')}"
    await place.run(a_pod("kind", script, terminationGracePeriodSeconds=600))
    await place.until_listening("kind")
    said, last = await place.last_words("kind")
    assert said == "hello\ngoodbye\n"
    assert phase(last) == "Succeeded"
    assert ended(last)["exitCode"] == 0


async def test_a_pod_that_does_not_listen_is_killed_when_its_time_is_over(place: Place) -> None:
    await place.run(a_pod("deaf", WAIT, terminationGracePeriodSeconds=3))
    began = time.monotonic()
    pod = await place.delete("deaf")
    assert pod is not None
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 3
    assert pod["metadata"]["deletionTimestamp"]
    last = await place.until_gone("deaf")
    assert time.monotonic() - began > 2
    assert phase(last) == "Failed"
    assert ended(last)["exitCode"] == 137


async def test_a_deleted_pod_is_not_ready_when_it_has_ended(place: Place) -> None:
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    pod = a_pod("leaving", POLITE, terminationGracePeriodSeconds=600)
    pod["spec"]["containers"][0]["readinessProbe"] = probe
    await place.run(pod)
    await place.until_listening("leaving")
    async with asyncio.timeout(LIMIT_S), aclosing(place.states("leaving")) as states:
        await anext(states)  # from here on none is missed
        await place.delete("leaving")
        async for event in states:
            assert isinstance(event.object, dict)
            if not is_true(event.object, "Ready"):
                assert event.type is EventType.MODIFIED
                assert event.object["metadata"]["deletionTimestamp"]
                break
    await place.until_gone("leaving")


async def test_whoever_deletes_may_give_less_time(place: Place) -> None:
    await place.run(a_pod("patient", WAIT, terminationGracePeriodSeconds=600))
    pod = await place.delete("patient", grace_s=1)
    assert pod is not None
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
    # Each one waits for the others: were it told after they have ended, it would wait for ever.
    all_told = "until [ -e /shared/one -a -e /shared/two -a -e /shared/three ]; do sleep 0.1; done"
    mounts = [{"name": "shared", "mountPath": "/shared"}]
    containers = [
        a_container(name, when_told(f"touch /shared/{name}; {all_told}"), volumeMounts=mounts)
        for name in names
    ]
    volumes = [{"name": "shared", "emptyDir": {}}]
    pod = a_pod("trio", containers=containers, volumes=volumes, terminationGracePeriodSeconds=40)
    await place.run(pod)
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
