"""Pods of a home: they run, outlive the process, are stopped with the home, and leave nothing behind."""

import asyncio
import os
import select
import signal

import pytest
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.process.pods import (
    COUNTING,
    LIMIT_S,
    api,
    is_ready,
    log,
    pod,
    ready,
    said_in,
    status_of,
    until,
)

from kubevirt.api.scheme import NODES, PODS, SERVICES

pytestmark = pytest.mark.timeout(240)


async def test_a_pod_runs_and_is_listened_to(virtctl: Virtctl) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        await client.create(
            PODS, pod("a", "getent hosts kubernetes.default; exec sleep 1000"), "default"
        )
        found = await ready(client, "a")
        assert found.spec is not None
        assert found.spec.node_name == "node01"
        async with asyncio.timeout(LIMIT_S):
            await anext(client.log("a", "default", follow=True))
        service = await client.get(SERVICES, "kubernetes", "default")
        assert str(service.spec.cluster_ip) in (await log(client, "a"))[0]
        assert await said_in(client, "a", "hostname") == b"a\n"


async def test_a_pod_outlives_the_process_and_is_found_again(virtctl: Virtctl) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        await client.create(PODS, pod("a", COUNTING), "default")
        before = await ready(client, "a")
    virtctl.kill()
    assert virtctl("up").code == 0
    async with api(virtctl) as client:
        after = await ready(client, "a")
        numbers = [int(line) for line in await log(client, "a")]
    assert after.status.container_statuses[0].restart_count == 0
    assert (
        after.status.container_statuses[0].container_id
        == before.status.container_statuses[0].container_id
    )
    assert numbers == list(range(len(numbers)))


async def test_down_stops_pods_and_up_does_what_restart_policies_ask(virtctl: Virtctl) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        await client.create(PODS, pod("always", COUNTING), "default")
        await client.create(PODS, pod("never", COUNTING, policy="Never"), "default")
        await ready(client, "always")
        await ready(client, "never")
    home_id = virtctl.home.id
    done = virtctl("down")
    assert done.code == 0, done.err
    assert left_of(virtctl.home.path, home_id) == []
    assert virtctl("up").code == 0
    async with api(virtctl) as client:
        again = await until(
            client,
            "always",
            lambda found: status_of(found).restart_count == 1 and is_ready(found),
        )
        assert again.status.container_statuses[0].last_state is not None
        assert (await log(client, "always", previous=True))[-1] == "bye"
        ended = await until(client, "never", lambda found: found.status.phase != "Running")
        assert ended.status.phase in ("Failed", "Succeeded")


async def test_down_after_a_kill_leaves_nothing_behind(virtctl: Virtctl) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        memory = {"name": "m", "emptyDir": {"medium": "Memory"}}
        wanted = pod("a", COUNTING, volumes=[memory])
        wanted["spec"]["containers"][0]["volumeMounts"] = [{"name": "m", "mountPath": "/m"}]
        await client.create(PODS, wanted, "default")
        await ready(client, "a")
    home_id = virtctl.home.id
    virtctl.kill()
    assert left_of(virtctl.home.path, home_id)
    done = virtctl("down")
    assert done.code == 0, done.err
    assert left_of(virtctl.home.path, home_id) == []


async def test_down_after_a_kill_asks_a_container_that_does_not_listen_yet(
    virtctl: Virtctl,
) -> None:
    """It was asked once, did not hear it, and was killed at the end of its grace period."""
    late = "sleep 3; trap 'exit 5' TERM; while :; do sleep 0.05; done"
    virtctl.up()
    async with api(virtctl) as client:
        wanted = pod("late", late, policy="Never", terminationGracePeriodSeconds=60)
        await client.create(PODS, wanted, "default")
        await ready(client, "late")
    virtctl.kill()
    assert virtctl("down").code == 0
    assert virtctl("up").code == 0
    async with api(virtctl) as client:
        ended = await until(client, "late", lambda found: found.status.phase != "Running")
    state = status_of(ended).state
    assert state is not None
    assert state.terminated is not None
    assert state.terminated.exit_code == 5


async def test_a_second_signal_waits_for_no_grace_period(virtctl: Virtctl) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        script = 'trap "" TERM; while :; do sleep 1; done'
        await client.create(PODS, pod("deaf", script, terminationGracePeriodSeconds=80), "default")
        await ready(client, "deaf")
    pidfd = os.pidfd_open(virtctl.pid)
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        async with asyncio.timeout(LIMIT_S):
            while "stopping" not in virtctl.home.log.read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        assert select.select([pidfd], [], [], LIMIT_S)[0]
    finally:
        os.close(pidfd)
    assert virtctl.home.process is None


async def test_two_nodes_run_pods_of_their_own(virtctl: Virtctl) -> None:
    virtctl.up("--nodes", "2")
    async with api(virtctl) as client:
        assert [each.metadata.name for each in (await client.list(NODES)).items] == [
            "node01",
            "node02",
        ]
        for node in ("node01", "node02"):
            where = {"kubernetes.io/hostname": node}
            await client.create(PODS, pod(node, "exec sleep 1000", nodeSelector=where), "default")
        for node in ("node01", "node02"):
            await ready(client, node)
            assert await said_in(client, node, "hostname") == f"{node}\n".encode()
