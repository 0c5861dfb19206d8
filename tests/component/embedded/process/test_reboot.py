"""A machine that restarts: only the folder is left, and everything comes back that restart policies ask for."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.component.embedded.process import machine
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.process.pods import (
    COUNTING,
    LIMIT_S,
    api,
    container,
    is_ready,
    log,
    pod,
    ready,
    said_in,
    status_of,
    until,
)

from kubevirt.api.core.pod import Pod
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import PODS, SERVICES
from kubevirt.kube.client import Client

CLAIMS: Resource[dict[str, Any]] = Resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, dict[str, Any]
)
KEPT = "echo x >> /kept/starts; wc -l < /kept/starts > /memory/starts; exec sleep 100000"
"""A line for each start; what is in memory begins anew with each."""

pytestmark = pytest.mark.timeout(300)


def _wanted() -> list[dict[str, Any]]:
    init = container("init", "echo y >> /kept/inits")
    sidecar = container("side", COUNTING, restartPolicy="Always")
    rich = pod(
        "rich",
        KEPT,
        initContainers=[init, sidecar],
        volumes=[
            {"name": "kept", "persistentVolumeClaim": {"claimName": "kept"}},
            {"name": "memory", "emptyDir": {"medium": "Memory"}},
        ],
    )
    kept, memory = (
        {"name": "kept", "mountPath": "/kept"},
        {"name": "memory", "mountPath": "/memory"},
    )
    rich["spec"]["containers"][0]["volumeMounts"] = [kept, memory]
    init["volumeMounts"] = [kept]
    web = pod("web", "cd /etc && exec python3 -m http.server 8080")
    disk = pod("disk", "exec sleep 100000")
    disk["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "disk"}}]
    disk["spec"]["containers"][0]["volumeDevices"] = [{"name": "d", "devicePath": "/dev/own"}]
    return [
        rich,
        web,
        disk,
        pod("failing", COUNTING, policy="OnFailure"),
        pod("never", COUNTING, policy="Never"),
        pod("done", "true", policy="Never"),
    ]


def _claim(name: str, mode: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": mode,
            "resources": {"requests": {"storage": "8Mi"}},
        },
    }


async def _fill(client: Client) -> dict[str, Pod]:
    """The pods, when each has come to where it was going."""
    for name, mode in (("kept", "Filesystem"), ("disk", "Block")):
        await client.create(CLAIMS, _claim(name, mode), "default")
    ports = [{"port": 80, "targetPort": 8080}]
    service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": ports}}
    await client.create(SERVICES.raw, service, "default")
    for each in _wanted():
        await client.create(PODS.raw, each, "default")
    running = {
        name: await ready(client, name) for name in ("rich", "web", "disk", "failing", "never")
    }
    await until(client, "done", lambda found: found.status.phase == "Succeeded")
    return running


async def _until_answered(client: Client) -> None:
    """By the Service, asked by its name from another pod: who is behind it is known soon after they are."""
    async with asyncio.timeout(LIMIT_S):
        while not await _answers(client):  # noqa: ASYNC110  # the answer is what tells
            await asyncio.sleep(0.1)


async def _answers(client: Client) -> bool:
    ask = "import urllib.request as r; print(r.urlopen('http://web/', timeout=5).status)"
    return b"200" in await said_in(client, "rich", "python3", "-c", ask)


async def _come_back(client: Client, name: str) -> Pod:
    return await until(
        client, name, lambda found: status_of(found).restart_count == 1 and is_ready(found)
    )


async def test_after_a_restart_of_the_machine_all_is_as_restart_policies_ask(
    virtctl: Virtctl,
) -> None:
    with machine.switched_on(virtctl.folder) as entry:
        before = replace(virtctl, entry=entry)
        await asyncio.to_thread(before.up)
        home_id = virtctl.home.id
        async with api(virtctl) as client:
            were = await _fill(client)
            await _until_answered(client)
    machine.forget(virtctl.home.path, home_id)
    assert left_of(virtctl.home.path, home_id) == []

    with machine.switched_on(virtctl.folder) as entry:
        after = replace(virtctl, entry=entry)
        done = await asyncio.to_thread(after, "up")
        assert done.code == 0, done.err
        async with api(virtctl) as client:
            await _check(client, were)
        done = await asyncio.to_thread(after, "down")
        assert done.code == 0, done.err
    assert left_of(virtctl.home.path, home_id) == []


async def _check(client: Client, were: dict[str, Pod]) -> None:
    rich = await _come_back(client, "rich")
    assert status_of(rich, "side").restart_count == 1
    assert status_of(rich, "init").restart_count == 1
    last = status_of(rich).last_state
    assert last is not None
    assert last.terminated is not None
    assert (last.terminated.exit_code, last.terminated.reason) == (137, "ContainerStatusUnknown")
    assert await said_in(client, "rich", "cat", "/kept/starts", "/memory/starts") == b"x\nx\n2\n"
    assert (await log(client, "rich", container="side", previous=True))[0] == "0"

    for name in ("web", "disk", "failing"):
        await _come_back(client, name)
    assert rich.status.pod_ip == were["rich"].status.pod_ip
    addresses = [each.status.pod_ip for each in (await client.list(PODS, "default")).items]
    assert len(set(filter(None, addresses))) == len(list(filter(None, addresses)))
    assert b"8388608" in await said_in(client, "disk", "blockdev", "--getsize64", "/dev/own")

    never = await until(client, "never", lambda found: found.status.phase == "Failed")
    ended = status_of(never).state
    assert ended is not None
    assert ended.terminated is not None
    assert (ended.terminated.exit_code, ended.terminated.reason) == (137, "ContainerStatusUnknown")
    assert status_of(never).restart_count == 0
    finished = await until(client, "done", lambda found: found.status.phase == "Succeeded")
    assert status_of(finished).restart_count == 0
    await _until_answered(client)


async def test_after_a_restart_of_the_machine_a_home_may_have_fewer_nodes(virtctl: Virtctl) -> None:
    with machine.switched_on(virtctl.folder) as entry:
        await asyncio.to_thread(replace(virtctl, entry=entry).up, "--nodes", "2")
        home_id = virtctl.home.id
        async with api(virtctl) as client:
            for node in ("node01", "node02"):
                where = {"kubernetes.io/hostname": node}
                await client.create(PODS.raw, pod(node, COUNTING, nodeSelector=where), "default")
            for node in ("node01", "node02"):
                await ready(client, node)
    machine.forget(virtctl.home.path, home_id)

    with machine.switched_on(virtctl.folder) as entry:
        after = replace(virtctl, entry=entry)
        done = await asyncio.to_thread(after, "up", "--nodes", "1")
        assert done.code == 0, done.err
        async with api(virtctl) as client:
            await _come_back(client, "node01")
            assert [each.metadata.name for each in (await client.list(PODS)).items] == ["node01"]
        assert len(list((virtctl.home.network / "leases").iterdir())) == 1
        done = await asyncio.to_thread(after, "down")
        assert done.code == 0, done.err
    assert left_of(virtctl.home.path, home_id) == []


async def test_down_after_a_restart_of_the_machine_finds_nothing_to_do(virtctl: Virtctl) -> None:
    with machine.switched_on(virtctl.folder) as entry:
        await asyncio.to_thread(replace(virtctl, entry=entry).up)
        home_id = virtctl.home.id
        async with api(virtctl) as client:
            await client.create(PODS.raw, pod("a", COUNTING), "default")
            await ready(client, "a")
    machine.forget(virtctl.home.path, home_id)
    assert "the machine was restarted" in virtctl("status").out
    done = virtctl("down")
    assert done.code == 0, done.err
    assert virtctl.home.process is None
    assert left_of(virtctl.home.path, home_id) == []
