"""Logs and terminals of pods through the packages, from a stand-in for a node."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import stream
from lightkube.resources.core_v1 import Pod
from tests.contract.pod_cases import pod
from tests.contract.stand_in_node import PROTOCOL, Signing, StandInNode, stand_in_node

from kubevirt.kube.client import Client

LIMIT_S = 120


@pytest.fixture
async def node(
    client: Client, server: Signing, namespace: str, tmp_path: Path
) -> AsyncIterator[StandInNode]:
    """With a pod on it: `web`."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    async with stand_in_node(f"node-{namespace}", server, tmp_path) as made:
        await client.raw("POST", "/api/v1/nodes", made.object)
        await client.raw("POST", pods, pod(name="web", terminationGracePeriodSeconds=0))
        target = {"metadata": {"name": "web"}, "target": {"name": made.name}}
        await client.raw("POST", f"{pods}/web/binding", target)
        yield made
        await client.raw("DELETE", f"/api/v1/nodes/{made.name}")


async def test_the_kubernetes_package_reads_a_log(
    core: Any, namespace: str, node: StandInNode
) -> None:
    # In a thread: the node lives in this loop.
    said = await asyncio.to_thread(
        core.read_namespaced_pod_log, "web", namespace, tail_lines=5, _request_timeout=LIMIT_S
    )
    assert said == "one\ntwo\n"
    assert node.asked[0].endswith("?tailLines=5")


async def test_lightkube_reads_a_log(async_light: Any, node: StandInNode) -> None:
    async with asyncio.timeout(LIMIT_S):
        lines = [line async for line in async_light.log("web", tail_lines=5)]
    assert [line.strip() for line in lines] == ["one", "two"]
    assert (await async_light.get(Pod, "web")).spec.nodeName == node.name


async def test_the_kubernetes_package_has_a_terminal(
    core: Any, namespace: str, node: StandInNode
) -> None:
    def talk() -> tuple[str, int]:
        terminal = stream.stream(
            core.connect_get_namespaced_pod_exec,
            "web",
            namespace,
            command=["echo", "x y"],
            stdin=True,
            stdout=True,
            stderr=True,
            _preload_content=False,
            # With a newer one Kubernetes would speak SPDY to the node, which ours never does.
            _headers={"sec-websocket-protocol": PROTOCOL},
        )
        try:
            terminal.write_stdin(b"hello")
            heard = terminal.read_stdout(timeout=LIMIT_S)
            terminal.write_stdin(b"end")
            terminal.run_forever(timeout=LIMIT_S)
            return heard, terminal.returncode
        finally:
            terminal.sock.shutdown()  # the package forgets it when the other end was first

    assert await asyncio.to_thread(talk) == ("hello", 0)
    assert "command=echo&command=x+y" in node.asked[0]
