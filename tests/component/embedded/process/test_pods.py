"""Pods of a home: they run, outlive the process, are stopped with the home, and leave nothing behind."""

import asyncio
import os
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.process.conftest import Virtctl

from kubevirt.api.core.pod import Pod
from kubevirt.api.scheme import NODES, PODS, SERVICES
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

IMAGE = "kubevirt.io/built-in"
LIMIT_S = 60.0
COUNTING = (
    'n=0; trap "echo bye; exit 0" TERM; while :; do echo $n; n=$((n+1)); sleep 0.1 & wait $!; done'
)
pytestmark = pytest.mark.timeout(240)


def pod(name: str, script: str, *, policy: str = "Always", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": IMAGE, "command": ["sh", "-c", script]}
    return {
        "metadata": {"name": name},
        "spec": {
            "containers": [container],
            "restartPolicy": policy,
            "terminationGracePeriodSeconds": 5,
            **spec,
        },
    }


def api(virtctl: Virtctl) -> Client:
    return Client(kubeconfig.load([virtctl.home.kubeconfig], {}))


async def ready(client: Client, name: str) -> Pod:
    return await _until(client, name, lambda found: "True" in _ready(found))


def _ready(found: Pod) -> list[str]:
    return [each.status for each in found.status.conditions if each.type == "Ready"]


async def _until(client: Client, name: str, holds: Callable[[Pod], bool]) -> Pod:
    """Watches it: every state is seen, also those that pass."""
    last: object = None
    selector = f"metadata.name={name}"
    try:
        async with asyncio.timeout(LIMIT_S):
            watched = client.watch(PODS, "default", resource_version=None, field_selector=selector)
            async for event in watched:
                last = event.object
                if isinstance(last, Pod) and holds(last):
                    return last
    except TimeoutError:
        pass
    raise AssertionError(f"it never came to that: {last}")


async def log(client: Client, name: str, **options: Any) -> list[str]:
    pieces = [piece async for piece in client.log(name, "default", **options)]
    return b"".join(pieces).decode().splitlines()


async def said_in(client: Client, name: str, *words: str) -> bytes:
    async with client.exec(name, "default", words) as process:
        return b"".join([data async for _, data in process.output()])


def left_on_the_machine(virtctl: Virtctl, home_id: str) -> list[str]:
    """Links, tables, mounts, groups and processes that carry the home's id or its path."""
    place = str(virtctl.home.path)
    links = _said("ip", "-o", "link").splitlines()
    tables = _said("nft", "list", "tables").splitlines()
    mounts = Path("/proc/mounts").read_text().splitlines()
    found = [f"link {each}" for each in links if home_id in each]
    found += [f"table {each}" for each in tables if home_id in each]
    found += [f"mount {each}" for each in mounts if f"{place}/" in each]
    groups = Path("/sys/fs/cgroup").glob(f"**/kubevirt-embedded/{home_id}")
    found += [f"group {each}" for each in groups]
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes()
        except OSError:
            continue
        if place.encode() in words:
            found.append(f"process {words!r}")
    return found


def _said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout


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
    assert left_on_the_machine(virtctl, home_id) == []
    assert virtctl("up").code == 0
    async with api(virtctl) as client:
        again = await _until(
            client,
            "always",
            lambda found: (
                found.status.container_statuses[0].restart_count == 1 and _ready(found) == ["True"]
            ),
        )
        assert again.status.container_statuses[0].last_state is not None
        assert (await log(client, "always", previous=True))[-1] == "bye"
        ended = await _until(client, "never", lambda found: found.status.phase != "Running")
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
    assert left_on_the_machine(virtctl, home_id)
    done = virtctl("down")
    assert done.code == 0, done.err
    assert left_on_the_machine(virtctl, home_id) == []


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
