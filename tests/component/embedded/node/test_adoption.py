"""Pods outlive the node that started them, and are found again: nothing doubled, nothing lost."""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from tests.component.embedded.node.world import (
    NODE,
    World,
    a_pod,
    container,
    ended,
    has_phase,
    has_restarted,
    is_ready,
    status_of,
    until,
)

from kubevirt.api.core.pod import Pod
from kubevirt.base.commands import ENVIRONMENT, Process, spawn
from kubevirt.embedded.runtime.attempt import Attempt

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")

PROGRAM = Path(__file__).parent / "node_program.py"
ROOT = Path(__file__).parents[4]
KILLS = int(os.environ.get("SOAK_NODE_KILLS", "6"))


@asynccontextmanager
async def a_program(world: World) -> AsyncIterator[Process]:
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{ROOT}:{ROOT / 'cluster-up'}"}
    words = (str(PROGRAM), str(world.folder), world.url, str(world.keeper_program))
    output = world.folder / "node.log"
    with output.open("ab") as file:
        async with spawn(sys.executable, *words, env=environment, output=file) as process:
            yield process


def keepers(pod: Pod, world: World) -> list[int]:
    """The attempts of all containers that run."""
    attempts = world.records(pod).all_attempts()
    return [int(attempt.folder.name) for attempt in attempts if attempt.is_running]


def keeper_of(attempt: Attempt) -> int:
    """Its number, for when its folder is gone."""
    return int(msgspec.json.decode((attempt.folder / "started.json").read_bytes())["keeper"])


def is_alive(process: int) -> bool:
    """One that has ended may wait for long until somebody takes note."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def first_process(world: World, pod: Pod, number: int = 0) -> str:
    return (world.records(pod).attempt("main", number).folder / "status.json").read_text()


async def test_a_pod_outlives_its_node_and_nobody_sees_a_difference(world: World) -> None:
    readiness = {"exec": {"command": ["true"]}, "periodSeconds": 60}
    async with world.node():
        await world.create(a_pod("web", main={"readinessProbe": readiness}))
        before = await world.until("web", is_ready)
        process = first_process(world, before)

    async with world.node() as node:
        await until(lambda: node.pods.find("default", "web", "main") is not None)
        await world.create(a_pod("other"))
        await world.until("other", is_ready)

        after = await world.pod("web")
        assert after.status == before.status
        assert after.metadata.resource_version == before.metadata.resource_version
        assert first_process(world, after) == process


async def test_an_end_that_nobody_saw_is_found_with_its_code(world: World) -> None:
    async with world.node():
        await world.create(
            a_pod(
                "web", "while ! test -e /tmp/x; do sleep 0.02; done; exit 9", restartPolicy="Never"
            )
        )
        pod = await world.until("web", is_ready)

    attempt = world.records(pod).attempt("main", 0)
    attempt.signal(signal.SIGKILL)
    await until(lambda: not attempt.is_running)

    async with world.node():
        pod = await world.until("web", has_phase("Failed"))

    assert (ended(pod).exit_code, status_of(pod).restart_count) == (137, 0)


async def test_a_container_that_ended_meanwhile_is_started_again_once(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web", "sleep 0.7; exit 3"))
        pod = await world.until("web", is_ready)

    attempt = world.records(pod).attempt("main", 0)
    await until(lambda: not attempt.is_running)

    async with world.node():
        pod = await world.until("web", has_restarted(1))

    last = status_of(pod).last_state
    assert last is not None
    assert last.terminated is not None
    assert last.terminated.exit_code == 3


async def test_a_pod_that_was_deleted_meanwhile_is_stopped(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web"))
        pod = await world.until("web", is_ready)

    await world.delete("web")

    async with world.node():
        await world.until_gone("web")
        await until(lambda: not world.records(pod).folder.exists())


async def test_a_pod_whose_object_is_gone_is_stopped(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web"))
        pod = await world.until("web", is_ready)
    (attempt,) = world.records(pod).all_attempts()
    keeper = keeper_of(attempt)

    await world.delete("web", grace_period_s=0)
    assert attempt.is_running

    async with world.node():
        await until(lambda: not world.records(pod).folder.exists())
    assert not is_alive(keeper)


async def test_what_is_left_of_a_pod_without_any_record_is_stopped(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web"))
        pod = await world.until("web", is_ready)
    await world.delete("web", grace_period_s=0)
    for name in ("pod.json", "state.json"):
        (world.records(pod).folder / name).unlink()
    keeper = keeper_of(world.records(pod).attempt("main", 0))

    async with world.node():
        await until(lambda: not world.records(pod).folder.exists())
    assert not is_alive(keeper)


async def test_a_grace_period_goes_on_where_it_was(world: World) -> None:
    """Begun by one node, ended by the next: the time between counts."""
    deaf = "trap '' TERM; while :; do sleep 0.05; done"
    async with world.node():
        await world.create(a_pod("web", deaf, terminationGracePeriodSeconds=4))
        pod = await world.until("web", is_ready)
        await world.delete("web")
        stopping = world.records(pod).attempt("main", 0).folder / "stopping.json"
        await until(lambda: stopping.exists() and b"asked_at" in stopping.read_bytes())
    since = stopping.stat().st_mtime

    async with world.node():
        await world.until_gone("web")

    assert 3 <= time.time() - since < 20


async def test_after_the_machine_was_down_everything_begins_anew_and_counts_on(
    world: World,
) -> None:
    inits = [container("first", "true")]
    async with world.node():
        await world.create(a_pod("always", initContainers=inits))
        await world.create(a_pod("failing", initContainers=inits, restartPolicy="OnFailure"))
        await world.create(a_pod("never", restartPolicy="Never"))
        always = await world.until("always", is_ready)
        failing = await world.until("failing", is_ready)
        never = await world.until("never", is_ready)
    machine_goes_down(world, always)
    machine_goes_down(world, failing)
    machine_goes_down(world, never)

    async with world.node():
        pod = await world.until("always", has_restarted(1))
        assert status_of(pod, "first").restart_count == 1
        last = status_of(pod).last_state
        assert last is not None
        assert last.terminated is not None
        assert (last.terminated.exit_code, last.terminated.reason) == (
            137,
            "ContainerStatusUnknown",
        )
        await world.until("failing", has_restarted(1))
        pod = await world.until("never", has_phase("Failed"))
        assert status_of(pod).restart_count == 0
        assert ended(pod).exit_code == 137


def machine_goes_down(world: World, pod: Pod) -> None:
    """All processes at once, the keepers too, and another boot."""
    records = world.records(pod)
    for attempt in records.all_attempts():
        if attempt.is_running:
            os.kill(keeper_of(attempt), signal.SIGKILL)
    state = records.state()
    assert state is not None
    records.keep_state(msgspec.structs.replace(state, boot_id="another"))


async def test_a_home_that_goes_down_in_peace_stops_all_and_comes_back(world: World) -> None:
    polite = "trap 'exit 0' TERM; echo here; while :; do sleep 0.05; done"
    async with world.node() as node:
        await world.create(a_pod("always", polite))
        await world.create(a_pod("failing", polite, restartPolicy="OnFailure"))
        await world.create(a_pod("never", polite, restartPolicy="Never"))
        await world.create(a_pod("done", "true", restartPolicy="Never"))
        always = await world.until("always", is_ready)
        failing = await world.until("failing", is_ready)
        never = await world.until("never", is_ready)
        await world.until("done", has_phase("Succeeded"))
        await until(lambda: all(world.log(each) == ["here"] for each in (always, failing, never)))

        async with asyncio.timeout(60):
            await node.stop_all(10)

        assert keepers(always, world) == keepers(failing, world) == []

    async with world.node():
        await world.until("always", has_restarted(1))
        await world.until("failing", has_restarted(1))
        pod = await world.until("never", has_phase("Failed"))
        assert ended(pod).exit_code == 143
        assert (await world.pod("done")).status.phase == "Succeeded"


async def test_a_node_that_is_killed_at_any_moment_loses_and_doubles_nothing(
    world: World,
) -> None:
    """Pods come, run, end and go while their node is killed again and again."""
    chance = random.Random(os.environ.get("KUBEVIRT_SOAK_SEED", "7"))
    names = [f"pod-{number}" for number in range(6)]
    for round_ in range(KILLS):
        async with a_program(world) as process:
            if round_ == 0:
                for number, name in enumerate(names):
                    script = "exec sleep 1000" if number % 2 else f"sleep 0.3; exit {number}"
                    policy = "Always" if number % 2 else "Never"
                    await world.create(a_pod(name, script, restartPolicy=policy))
            await world.create(
                a_pod(f"short-{round_}", initContainers=[container("first", "true")])
            )
            await asyncio.sleep(chance.uniform(0.3, 1.5))
            process.kill()
            await process.wait()
            await world.delete(f"short-{round_}")

    async with world.node():
        for number, name in enumerate(names):
            if number % 2:
                pod = await world.until(name, is_ready)
                assert status_of(pod).restart_count == 0
                assert keepers(pod, world) == [0]
            else:
                pod = await world.until(name, has_phase("Succeeded", "Failed"))
                assert (ended(pod).exit_code, status_of(pod).restart_count) == (number, 0)
        for name in names:
            await world.delete(name)
        for name in (*names, *(f"short-{round_}" for round_ in range(KILLS))):
            await world.until_gone(name)
        await until(lambda: not list((world.folder / NODE / "pods").iterdir()))
