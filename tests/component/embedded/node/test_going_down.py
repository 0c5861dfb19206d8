"""How containers are asked and stopped: hooks, signals, grace, probes."""

import asyncio
import fcntl
import os
import time
from typing import Any

import pytest
from tests.component.embedded.node.world import (
    World,
    a_pod,
    ended,
    has_phase,
    has_restarted,
    is_ready,
    status_of,
    until,
)

from kubevirt.api.core.pod import Pod
from kubevirt.api.scheme import PODS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")

POLITE = "trap 'echo asked; exit 5' TERM; echo here; while :; do sleep 0.05; done"
DEAF = "trap '' TERM; echo here; while :; do sleep 0.05; done"


async def deleted(world: World, name: str, **options: Any) -> Pod:
    """The last that was seen of it."""
    last: list[Pod] = []

    async def follow(began: asyncio.Event) -> None:
        async for event in world.client.watch(
            PODS, "default", resource_version=None, field_selector=f"metadata.name={name}"
        ):
            assert isinstance(event.object, Pod)
            last.append(event.object)
            began.set()
            if str(event.type).upper().endswith("DELETED"):
                return

    began = asyncio.Event()
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(follow(began))
        await began.wait()
        await world.delete(name, **options)
    return last[-1]


async def test_a_container_is_asked_to_end_and_may_say_goodbye(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web", POLITE, terminationGracePeriodSeconds=20))
        pod = await world.until("web", is_ready)
        attempt = world.records(pod).attempt("main", 0)
        await until(lambda: "here" in world.log(pod))

        last = await deleted(world, "web")

        assert ended(last).exit_code == 5
        assert last.status.phase == "Failed"
        await until(lambda: not attempt.folder.exists())


async def test_a_container_that_has_only_begun_is_asked_as_soon_as_it_listens(
    world: World,
) -> None:
    """The kernel drops what the first process of a container has made no provision for; it was then waited for in vain."""
    late = "while ! test -e /tmp/go; do sleep 0.02; done; trap 'exit 5' TERM; while :; do sleep 0.05; done"
    hook = {
        "preStop": {
            "exec": {"command": ["sh", "-c", "(sleep 0.7; touch /tmp/go) >/dev/null 2>&1 &"]}
        }
    }
    async with world.node():
        await world.create(
            a_pod("web", late, main={"lifecycle": hook}, terminationGracePeriodSeconds=600)
        )
        await world.until("web", is_ready)

        last = await deleted(world, "web")

        assert ended(last).exit_code == 5


async def test_a_container_that_waits_for_signals_without_a_handler_is_asked_once(
    world: World,
) -> None:
    """As a launcher does: it was not seen to listen, so it was never asked, and its guest was killed in the end."""
    waiter = (
        "import signal as s, time\n"
        "s.pthread_sigmask(s.SIG_BLOCK, [15])\n"
        "print('here', flush=True)\n"
        "s.sigwait([15])\n"
        "raise SystemExit(6 if s.sigtimedwait([15], 2) else 5)\n"
    )
    async with world.node():
        main = {"command": ["python3", "-S", "-c", waiter]}
        await world.create(a_pod("web", main=main, terminationGracePeriodSeconds=600))
        found = await world.until("web", is_ready)
        await until(lambda: "here" in world.log(found))

        assert ended(await deleted(world, "web")).exit_code == 5


async def test_a_container_that_does_not_listen_is_killed_when_its_time_is_up(
    world: World,
) -> None:
    async with world.node():
        await world.create(a_pod("web", DEAF, terminationGracePeriodSeconds=2))
        await world.until("web", is_ready)
        began = time.monotonic()

        last = await deleted(world, "web")

        assert ended(last).exit_code == 137
        assert time.monotonic() - began >= 2


async def test_a_pod_that_is_removed_by_force_is_stopped_nevertheless(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web", DEAF, terminationGracePeriodSeconds=600))
        pod = await world.until("web", is_ready)
        folder = world.records(pod).folder
        lock = (world.records(pod).attempt("main", 0).folder / "lock").open("rb")

        await world.delete("web", grace_period_s=0)

        await world.until_gone("web")
        await until(lambda: not folder.exists())
        with lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # the keeper has let it go


async def test_a_hook_after_the_start_runs_before_a_container_counts_as_up(world: World) -> None:
    hook = {"postStart": {"exec": {"command": ["sh", "-c", "sleep 0.5; echo x > /tmp/mark"]}}}
    script = "while ! test -e /tmp/mark; do sleep 0.02; done; echo seen; exec sleep 1000"
    async with world.node():
        await world.create(a_pod("web", script, main={"lifecycle": hook}))

        pod = await world.until("web", is_ready)

        await until(lambda: world.log(pod) == ["seen"])


async def test_a_container_whose_hook_fails_is_started_anew(world: World) -> None:
    hook = {"postStart": {"exec": {"command": ["false"]}}}
    async with world.node():
        await world.create(
            a_pod("web", "exec sleep 1000", main={"lifecycle": hook}, restartPolicy="Never")
        )

        pod = await world.until("web", has_phase("Failed"))

        assert ended(pod).exit_code == 137
        assert "FailedPostStartHook" in dict(await world.events("web"))


async def test_a_hook_before_the_stop_runs_before_the_signal(world: World) -> None:
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "echo x > /tmp/mark"]}}}
    script = (
        "trap 'test -e /tmp/mark && exit 11; exit 12' TERM; echo here; while :; do sleep 0.05; done"
    )
    async with world.node():
        await world.create(
            a_pod("web", script, main={"lifecycle": hook}, terminationGracePeriodSeconds=20)
        )
        pod = await world.until("web", is_ready)
        await until(lambda: "here" in world.log(pod))

        last = await deleted(world, "web")

        assert ended(last).exit_code == 11


async def test_a_hook_may_just_wait(world: World) -> None:
    hook = {"preStop": {"sleep": {"seconds": 1}}}
    async with world.node():
        await world.create(
            a_pod("web", POLITE, main={"lifecycle": hook}, terminationGracePeriodSeconds=20)
        )
        pod = await world.until("web", is_ready)
        await until(lambda: "here" in world.log(pod))
        began = time.monotonic()

        last = await deleted(world, "web")

        assert ended(last).exit_code == 5
        assert time.monotonic() - began >= 1


def probe(**more: Any) -> dict[str, Any]:
    return {"periodSeconds": 1, "timeoutSeconds": 5, "failureThreshold": 1, **more}


async def test_a_container_is_ready_when_its_probe_says_so_and_no_longer(world: World) -> None:
    readiness = probe(exec={"command": ["test", "-e", "/tmp/ready"]})
    script = "sleep 0.5; touch /tmp/ready; sleep 2; rm /tmp/ready; exec sleep 1000"
    async with world.node():
        await world.create(a_pod("web", script, main={"readinessProbe": readiness}))

        await world.until("web", is_ready)
        pod = await world.until("web", lambda pod: not is_ready(pod))

        assert pod.status.phase == "Running"
        assert status_of(pod).restart_count == 0


async def test_a_container_that_does_not_live_is_started_anew(world: World) -> None:
    liveness = probe(exec={"command": ["test", "!", "-e", "/tmp/ill"]})
    script = "test -e /tmp/ill || { sleep 0.3; touch /tmp/ill; }; exec sleep 1000"
    async with world.node():
        await world.create(a_pod("web", script, main={"livenessProbe": liveness}))

        await world.until("web", has_restarted(1))

        found = await world.events("web")
    assert ("Killing", "Container main failed liveness probe, will be restarted") in found
    assert any(reason == "Unhealthy" for reason, _ in found)


async def test_other_probes_wait_for_the_one_of_the_start(world: World) -> None:
    startup = probe(exec={"command": ["test", "-e", "/tmp/up"]}, failureThreshold=30)
    liveness = probe(exec={"command": ["test", "-e", "/tmp/up"]})
    async with world.node():
        await world.create(
            a_pod(
                "web",
                "sleep 1.5; touch /tmp/up; exec sleep 1000",
                main={"startupProbe": startup, "livenessProbe": liveness},
            )
        )

        pod = await world.until("web", is_ready)

        assert status_of(pod).restart_count == 0
        assert status_of(pod).started


async def test_http_and_connections_are_asked_for(world: World, a_port: int) -> None:
    script = f"exec python3 -m http.server --bind 127.0.0.1 {a_port} --directory /usr/share"
    ports = [{"name": "web", "containerPort": a_port}]
    http = {"path": "/", "port": "web", "httpHeaders": [{"name": "Host", "value": "x.example"}]}
    readiness = probe(httpGet=http)
    startup = probe(tcpSocket={"port": a_port}, failureThreshold=60)
    async with world.node():
        await world.create(
            a_pod(
                "web",
                script,
                main={"readinessProbe": readiness, "startupProbe": startup, "ports": ports},
            )
        )

        await world.until("web", is_ready)


async def test_a_probe_that_is_refused_tells_why(world: World) -> None:
    readiness = probe(httpGet={"path": "/", "port": 1})
    async with world.node():
        await world.create(a_pod("web", main={"readinessProbe": readiness}))
        await world.until("web", has_phase("Running"))

        async with asyncio.timeout(60):
            while "Unhealthy" not in (found := dict(await world.events("web"))):  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    assert found["Unhealthy"] == (
        'Readiness probe failed: Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect:'
        " connection refused"
    )
