"""Logs and terminals of pods, which a server asks of the node that runs them: a stand-in for one."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.oracle import Oracle
from tests.contract.pod_cases import container, pod
from tests.contract.stand_in_node import PROTOCOL, Signing, StandInNode, stand_in_node

from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

NODES = "/api/v1/nodes"
CLIENT = "kube-apiserver-kubelet-client"


@pytest.fixture
async def oracle(client: Client, records_answers: bool) -> Oracle:  # noqa: FBT001
    return Oracle("pod_streams", client, records=records_answers)


@pytest.fixture
async def node(
    client: Client, server: Signing, namespace: str, tmp_path: Path
) -> AsyncIterator[StandInNode]:
    async with stand_in_node(f"node-{namespace}", server, tmp_path) as made:
        await client.raw("POST", NODES, made.object)
        yield made
        await client.raw("DELETE", f"{NODES}/{made.name}")


async def put(client: Client, namespace: str, name: str, node: str, *more: Any) -> str:
    path = f"/api/v1/namespaces/{namespace}/pods"
    made = pod(*more, name=name, terminationGracePeriodSeconds=0)
    await client.raw("POST", path, made)
    if node:
        target = {"metadata": {"name": name}, "target": {"name": node}}
        await client.raw("POST", f"{path}/{name}/binding", target)
    return f"{path}/{name}"


async def test_a_log_comes_from_the_node(client: Client, namespace: str, node: StandInNode) -> None:
    path = await put(client, namespace, "web", node.name)
    params = {"tailLines": "5", "limitBytes": "100", "timestamps": "true", "follow": "true"}
    answer = await client.raw("GET", f"{path}/log", params=params, accept="*/*")
    assert answer == b"one\ntwo\n"
    [asked] = node.asked
    place, _, query = asked.partition("?")
    assert place == f"/containerLogs/{namespace}/web/main"
    assert sorted(query.split("&")) == [
        "follow=true",
        "limitBytes=100",
        "tailLines=5",
        "timestamps=true",
    ]
    assert node.callers == [CLIENT]


async def test_a_log_of_one_of_several(client: Client, namespace: str, node: StandInNode) -> None:
    path = await put(client, namespace, "web", node.name, container("a"), container("b"))
    await client.raw("GET", f"{path}/log", params={"container": "b"}, accept="*/*")
    assert node.asked[0].startswith(f"/containerLogs/{namespace}/web/b")


LOGS: dict[str, dict[str, str]] = {
    "another container": {"container": "x"},
    "no container": {},
    "lines below nothing": {"container": "a", "tailLines": "-1"},
    "no bytes": {"container": "a", "limitBytes": "0"},
    "two beginnings": {
        "container": "a",
        "sinceSeconds": "3",
        "sinceTime": "2020-01-01T00:00:00Z",
    },
    "no seconds": {"container": "a", "sinceSeconds": "0"},
}


@pytest.mark.parametrize("name", LOGS)
async def test_a_log_that_cannot_be_had(
    oracle: Oracle, client: Client, namespace: str, name: str
) -> None:
    path = await put(client, namespace, "web", "", container("a"), container("b"))
    await oracle.asked(f"log: {name}", "GET", f"{path}/log", **LOGS[name])


@pytest.mark.parametrize("name", ["absent", "broken", "waiting", "busy"])
async def test_a_node_says_no(
    oracle: Oracle, client: Client, namespace: str, node: StandInNode, name: str
) -> None:
    path = await put(client, namespace, name, node.name)
    await oracle.asked(f"log of: {name}", "GET", f"{path}/log")


async def test_a_log_on_a_node_that_nobody_knows(
    oracle: Oracle, client: Client, namespace: str
) -> None:
    path = await put(client, namespace, "web", "nowhere")
    await oracle.asked("log on an unknown node", "GET", f"{path}/log")
    await oracle.asked("exec on an unknown node", "GET", f"{path}/exec", command="x")


async def test_a_node_that_is_away(client: Client, namespace: str, node: StandInNode) -> None:
    away = {**node.object, "metadata": {"name": f"away-{namespace}"}}
    away["status"] = {**away["status"], "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}}}
    await client.raw("POST", NODES, away)
    path = await put(client, namespace, "web", f"away-{namespace}")
    with pytest.raises(ApiError, match=r"dial tcp 127.0.0.1:1: connect: connection refused") as no:
        await client.raw("GET", f"{path}/log", accept="*/*")
    assert (no.value.status.code, no.value.status.reason) == (500, "")
    await client.raw("DELETE", f"{NODES}/away-{namespace}")


@pytest.mark.parametrize("place", ["exec", "attach"])
async def test_a_terminal_goes_both_ways(
    client: Client, namespace: str, node: StandInNode, place: str
) -> None:
    path = await put(client, namespace, "web", node.name)
    params: dict[str, str | int | bool | None] = {"stdin": True, "stdout": True, "tty": True}
    if place == "exec":
        params["command"] = "a b"
    async with client.websocket(f"{path}/{place}", [PROTOCOL], params=params) as socket:
        assert socket.protocol == PROTOCOL
        for said in (b"\x00hello", b"\x00" + b"x" * 70_000):
            await socket.send_bytes(said)
            assert await socket.receive_bytes() == b"\x01" + said[1:]
        await socket.send_bytes(b"\x00end")
        assert await socket.receive_bytes() == b'\x03{"status":"Success"}'
        ended = await socket.receive()
        assert ended.data == 1000
    [asked] = node.asked
    where, _, query = asked.partition("?")
    assert where == f"/{place}/{namespace}/web/main"
    commands = ["command=a+b"] if place == "exec" else []
    assert sorted(query.split("&")) == sorted([*commands, "input=1", "output=1", "tty=1"])
    assert node.callers == [CLIENT]


async def test_a_terminal_needs_an_upgrade(
    oracle: Oracle, client: Client, namespace: str, node: StandInNode
) -> None:
    path = await put(client, namespace, "web", node.name)
    await oracle.asked("exec without an upgrade", "GET", f"{path}/exec", command="x")


async def test_a_terminal_of_a_pod_that_is_nowhere(
    oracle: Oracle, client: Client, namespace: str
) -> None:
    path = await put(client, namespace, "web", "")
    await oracle.asked("exec nowhere", "GET", f"{path}/exec", command="x")
    await oracle.asked("log nowhere", "GET", f"{path}/exec", command="x", container="y")
