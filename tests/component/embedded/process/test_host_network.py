"""Pods of a node's own network: the second node's is not the machine's, and each has its own ports."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.pods import api, pod, ready, told, until

from clusterup import ports
from kubevirt.api.core.pod import Pod
from kubevirt.api.scheme import PODS
from kubevirt.embedded.node.standpoint import Standpoint
from kubevirt.kube.client import Client

pytestmark = pytest.mark.timeout(240)

NODES = ("node01", "node02")
LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def two_nodes(virtctl: Virtctl) -> AsyncIterator[tuple[Client, dict[str, Standpoint]]]:
    await asyncio.to_thread(virtctl.up, "--nodes", "2")
    own = virtctl.home.network / "nodes/node02"
    async with api(virtctl) as client:
        yield client, {"node01": Standpoint(""), "node02": Standpoint(str(own))}


@contextmanager
def somebody_listens(standpoint: Standpoint) -> Iterator[int]:
    """A program of the machine, in the network of a node; the port is free everywhere else."""
    port = ports.take()
    try:
        with standpoint.call(lambda: socket.create_server((LOOPBACK, port.number))):
            yield port.number
    finally:
        port.release()


def of_the_node(name: str, node: str, port: int, **container: Any) -> dict[str, Any]:
    """A pod that serves on the loopback address of its node, and on its other ones."""
    script = f"exec python3 -m http.server --bind 0.0.0.0 {port}"
    wanted = pod(name, script, hostNetwork=True, nodeName=node)
    wanted["spec"]["containers"][0] |= {
        "ports": [{"containerPort": port, "hostPort": port}],
        **container,
    }
    return wanted


def is_judged(found: Pod) -> bool:
    return found.status.phase in ("Failed", "Running")


async def test_a_port_is_in_use_on_the_node_where_somebody_listens_and_on_no_other(
    virtctl: Virtctl,
) -> None:
    async with two_nodes(virtctl) as (client, standpoints):
        for busy, free in (NODES, NODES[::-1]):
            with somebody_listens(standpoints[busy]) as port:
                for node in NODES:
                    wanted = of_the_node(f"on-{node}-busy-{busy}", node, port)
                    await client.create(PODS, wanted, "default")
                refused = await until(client, f"on-{busy}-busy-{busy}", is_judged)
                assert refused.status.reason == "NodePorts"
                assert f"port {port}/TCP of the node is in use" in (refused.status.message or "")
                await ready(client, f"on-{free}-busy-{busy}")


@pytest.mark.parametrize("way", ["httpGet", "tcpSocket"])
async def test_a_probe_of_a_loopback_address_asks_that_of_the_pods_node(
    virtctl: Virtctl, way: str
) -> None:
    async with two_nodes(virtctl) as (client, standpoints):
        for node in NODES:
            port = ports.take()
            probe = {way: {"host": LOOPBACK, "port": port.number}, "periodSeconds": 1}
            served = of_the_node(f"served-{node}", node, port.number, readinessProbe=probe)
            await client.create(PODS, served, "default")
            await ready(client, f"served-{node}")
            port.release()
        with somebody_listens(standpoints["node01"]) as busy:
            probe = {way: {"host": LOOPBACK, "port": busy}, "periodSeconds": 1}
            mute = pod("mute", "exec sleep 1000", hostNetwork=True, nodeName="node02")
            mute["spec"]["containers"][0]["readinessProbe"] = probe
            await client.create(PODS, mute, "default")
            assert f"{LOOPBACK}:{busy}: connect: connection refused" in await told(
                client, "mute", "Unhealthy"
            )
