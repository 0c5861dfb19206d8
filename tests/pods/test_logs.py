"""Logs, by the API and by kubectl."""

import asyncio
from datetime import datetime

import pytest
from tests.pods.objects import WAIT, a_container, a_pod, restarts
from tests.pods.place import LIMIT_S, Place

from kubevirt.kube.errors import BadRequest

THREE = "echo one; echo two; echo three"


async def test_a_log_is_all_that_a_container_printed(place: Place) -> None:
    await place.finish(a_pod("talker", "echo out; echo err >&2; echo more"))
    assert sorted((await place.log("talker")).splitlines()) == ["err", "more", "out"]


async def test_a_last_line_without_an_end_is_in_the_log(place: Place) -> None:
    await place.finish(a_pod("talker", "echo out; printf 'no end'"))
    assert await place.log("talker") == "out\nno end"


async def test_a_log_is_read_from_its_end(place: Place) -> None:
    await place.finish(a_pod("talker", THREE))
    assert await place.log("talker", tail_lines=2) == "two\nthree\n"
    assert await place.log("talker", tail_lines=0) == ""
    assert (await place.kubectl("logs", "talker", "--tail=1")).stdout == "three\n"
    assert await place.log("talker", limit_bytes=5) == "one\nt"


async def test_lines_have_times_that_they_can_be_asked_by(place: Place) -> None:
    await place.finish(a_pod("talker", "echo one; sleep 1.2; echo two; echo three"))
    stamped = (await place.kubectl("logs", "talker", "--timestamps")).stdout.splitlines()
    times = [line.split()[0] for line in stamped]
    assert [line.split()[1] for line in stamped] == ["one", "two", "three"]
    assert times == sorted(times)
    assert datetime.fromisoformat(times[0][:19] + "+00:00").year >= 2024
    # The server knows whole seconds of this.
    since = times[1][:19] + "Z"
    assert (await place.kubectl("logs", "talker", f"--since-time={since}")).stdout == "two\nthree\n"
    assert (await place.kubectl("logs", "talker", "--since=1h")).stdout == "one\ntwo\nthree\n"


async def test_a_log_is_followed_to_its_end(place: Place) -> None:
    script = "for n in 1 2 3; do echo $n; sleep 0.5; done"
    await place.create(a_pod("counter", script, restartPolicy="Never"))
    await place.until("counter", lambda pod: pod["status"]["phase"] != "Pending", "started")
    assert await place.log("counter", follow=True) == "1\n2\n3\n"
    assert (await place.kubectl("logs", "-f", "counter")).stdout == "1\n2\n3\n"


async def test_a_followed_log_comes_as_it_is_written(place: Place) -> None:
    script = f"echo first; until [ -e /tmp/go ]; do sleep 0.1; done; echo second; {WAIT}"
    await place.run(a_pod("slow", script))
    pieces = place.client.log("slow", place.namespace, follow=True)
    async with asyncio.timeout(LIMIT_S):
        assert await anext(pieces) == b"first\n"
        await place.sh("slow", "touch /tmp/go")
        assert await anext(pieces) == b"second\n"
    await pieces.aclose()


async def test_the_log_of_the_run_before_can_be_read(place: Place) -> None:
    script = (
        f"if [ -e /shared/again ]; then echo second; {WAIT}; fi;"
        " echo first; touch /shared/again; exit 1"
    )
    pod = a_pod(
        "twice",
        script,
        container={"volumeMounts": [{"name": "shared", "mountPath": "/shared"}]},
        volumes=[{"name": "shared", "emptyDir": {}}],
    )
    await place.create(pod)
    await place.until("twice", lambda pod: restarts(pod) == 1, "restarted")
    await place.until_ready("twice")
    assert (await place.kubectl("logs", "--previous", "twice")).stdout == "first\n"
    await place.until_said("twice", "second\n")


async def test_without_a_run_before_there_is_no_such_log(place: Place) -> None:
    await place.run(a_pod("young"))
    with pytest.raises(BadRequest, match='previous terminated container "main" in pod "young"'):
        await place.log("young", previous=True)


async def test_one_of_several_containers_must_be_named(place: Place) -> None:
    containers = [a_container(name, f"echo {name}; {WAIT}") for name in ("one", "two")]
    await place.run(a_pod("pair", containers=containers))
    await place.until_said("pair", "one\n", "one")
    await place.until_said("pair", "two\n", "two")
    with pytest.raises(BadRequest, match=r"a container name must be specified for pod pair"):
        await place.log("pair")
    with pytest.raises(BadRequest, match="container three is not valid for pod pair"):
        await place.log("pair", "three")
    both = (await place.kubectl("logs", "pair", "--all-containers", "--prefix")).stdout
    assert sorted(both.splitlines()) == ["[pod/pair/one] one", "[pod/pair/two] two"]


async def test_the_log_of_a_container_that_waits_is_refused_with_the_reason(place: Place) -> None:
    await place.create(a_pod("early", volumes=[{"name": "v", "configMap": {"name": "nothing"}}]))
    await place.until_waiting("early", "ContainerCreating")
    with pytest.raises(BadRequest, match='"main" in pod "early" is waiting to start: ContainerC'):
        await place.log("early")


async def test_a_long_line_comes_whole(place: Place) -> None:
    script = "dd if=/dev/zero bs=1000 count=100 2>/dev/null | tr '\\0' x; echo; echo after"
    await place.finish(a_pod("wordy", script))
    assert await place.log("wordy") == "x" * 100_000 + "\nafter\n"


async def test_init_containers_have_logs(place: Place) -> None:
    pod = a_pod("pair", "echo main", initContainers=[a_container("first", "echo init")])
    await place.finish(pod)
    assert await place.log("pair", "first") == "init\n"
    assert await place.log("pair", "main") == "main\n"
