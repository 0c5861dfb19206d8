"""Services reached from pods, from the machine, and by nobody else."""

import asyncio
import shutil
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.component.embedded.network import world as worlds
from tests.component.embedded.network.world import (
    API_PORT,
    MACHINE,
    OUTSIDE,
    World,
    a_server_in,
    a_world,
    answers,
    becomes,
    datagram,
    datagrams_in,
    ready,
)
from tests.component.host.net_world import a_web_server, fetch, in_kernel

from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.network.facts import Route

pytestmark = worlds.marks

PORT = {"name": "http", "port": 80, "targetPort": 8080}
TARGET = {"name": "http", "port": 8080, "protocol": "TCP"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


async def test_a_service_is_reached_from_a_pod_and_from_the_machine(world: World) -> None:
    server, client = await world.pod("server"), await world.pod("client")
    async with a_server_in(server, "hello") as visitors:
        address = await world.service("web", PORT)
        await world.endpoints("web", [TARGET], ready(server))
        await answers(client.namespace, f"http://{address}", "hello")
        assert set(visitors) == {client.address}  # seen as who it is
        await answers(world.machine, f"http://{address}", "hello")


async def test_pods_reach_each_other_as_who_they_are(world: World) -> None:
    server, client = await world.pod("server"), await world.pod("client")
    async with a_server_in(server, "hello") as visitors:
        assert await fetch(client.namespace, f"http://{server.address}:8080") == "hello"
        assert visitors == [client.address]


async def test_a_pod_reaches_itself_by_its_service(world: World) -> None:
    server = await world.pod("server")
    async with a_server_in(server, "myself"):
        address = await world.service("web", PORT)
        await world.endpoints("web", [TARGET], ready(server))
        await answers(server.namespace, f"http://{address}", "myself")


async def test_a_service_spreads_over_its_endpoints(world: World) -> None:
    client = await world.pod("client")
    servers = [await world.pod(f"server-{number}") for number in range(3)]
    async with AsyncExitStack() as stack:
        for number, server in enumerate(servers):
            await stack.enter_async_context(a_server_in(server, str(number)))
        address = await world.service("web", PORT)
        await world.endpoints("web", [TARGET], *map(ready, servers))
        await until_answered(client.namespace, address)
        said = Counter([await fetch(client.namespace, f"http://{address}") for _ in range(60)])
    assert set(said) == {"0", "1", "2"}


async def until_answered(namespace: Namespace, address: str) -> None:
    async def ask() -> bool:
        return await fetch(namespace, f"http://{address}", patience_s=2) is not None

    await becomes(ask, wanted=True)


async def test_a_client_stays_with_its_endpoint_if_the_service_says_so(world: World) -> None:
    clients = [await world.pod(f"client-{number}") for number in range(6)]
    servers = [await world.pod(f"server-{number}") for number in range(3)]
    async with AsyncExitStack() as stack:
        for number, server in enumerate(servers):
            await stack.enter_async_context(a_server_in(server, str(number)))
        address = await world.service("web", PORT, sessionAffinity="ClientIP")
        await world.endpoints("web", [TARGET], *map(ready, servers))
        await until_answered(clients[0].namespace, address)
        first = [await fetch(each.namespace, f"http://{address}") for each in clients]
        # Rules are loaded anew, and what was learnt stays.
        other = await world.service("other", PORT)
        await world.endpoints("other", [TARGET], ready(servers[0]))
        await until_answered(clients[0].namespace, other)
        for _ in range(5):
            assert [await fetch(each.namespace, f"http://{address}") for each in clients] == first


async def test_datagrams_find_their_service(world: World) -> None:
    server, client = await world.pod("server"), await world.pod("client")
    async with datagrams_in(server, "heard"):
        address = await world.service("log", {"port": 514, "protocol": "UDP"})
        await world.endpoints("log", [{"port": 5353, "protocol": "UDP"}], ready(server))
        await becomes(lambda: datagram(client.namespace, address, 514), "heard!")


@pytest.mark.skipif(not shutil.which("conntrack"), reason="needs conntrack: install conntrack")
async def test_datagrams_of_one_port_follow_when_an_endpoint_goes(world: World) -> None:
    one, other, client = [await world.pod(name) for name in ("one", "other", "client")]
    asking = client.namespace.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    asking.settimeout(1)
    port = [{"port": 5353, "protocol": "UDP"}]
    async with datagrams_in(one, "one"), datagrams_in(other, "other"):
        address = await world.service("log", {"port": 514, "protocol": "UDP"})

        async def said() -> str:
            return await asyncio.to_thread(_said, asking, address)

        with asking:
            for pod, name in ((one, "one!"), (other, "other!"), (one, "one!")):
                await world.endpoints("log", port, ready(pod))
                await becomes(said, name)


def _said(asking: socket.socket, address: str) -> str:
    try:
        asking.sendto(b"!", (address, 514))
        return asking.recv(100).decode()
    except OSError:
        return ""


async def test_a_service_without_endpoints_is_refused_at_once(world: World) -> None:
    client = await world.pod("client")
    address = await world.service("web", PORT)
    for namespace in (client.namespace, world.machine):
        async with asyncio.timeout(60):
            assert await namespace.run(lambda: _connects(address, 80)) is ConnectionRefusedError


def _connects(address: str, port: int) -> type[OSError] | None:
    try:
        socket.create_connection((address, port), timeout=30).close()
    except OSError as error:
        return type(error)
    return None


async def test_an_endpoint_that_is_not_ready_is_left_out_until_it_is_the_last(world: World) -> None:
    client, one, other = [await world.pod(name) for name in ("client", "one", "other")]
    async with a_server_in(one, "one"), a_server_in(other, "other"):
        address = await world.service("web", PORT)
        ending = {"ready": False, "serving": True, "terminating": True}
        await world.endpoints("web", [TARGET], ready(one), ready(other, conditions=ending))
        await answers(client.namespace, f"http://{address}", "one")
        assert {await fetch(client.namespace, f"http://{address}") for _ in range(10)} == {"one"}
        await world.endpoints("web", [TARGET], ready(other, conditions=ending))
        await answers(client.namespace, f"http://{address}", "other")


async def test_what_leaves_the_machine_leaves_it_under_its_address(world: World) -> None:
    client = await world.pod("client")
    async with a_web_server(world.outside, OUTSIDE, 80, "outside") as web:
        assert await fetch(client.namespace, f"http://{OUTSIDE}") == "outside"
        assert web.visitors == [MACHINE]


async def test_other_machines_reach_neither_pods_nor_services_nor_the_server(world: World) -> None:
    server = await world.pod("server")
    async with a_server_in(server, "hello"):
        address = await world.service("web", PORT)
        await world.endpoints("web", [TARGET], ready(server))
        await answers(world.machine, f"http://{address}", "hello")
        in_kernel(world.outside, lambda kernel: _routed(kernel, world))
        gateway = str(world.settings.gateway)
        for url in (
            f"http://{server.address}:8080",
            f"http://{address}",
            f"http://{gateway}:{API_PORT}",
        ):
            assert await fetch(world.outside, url, patience_s=1) is None


def _routed(kernel: Kernel, world: World) -> None:
    link = kernel.need("machine0")
    for each in (world.settings.pods, world.settings.services):
        kernel.add_route(link, Route(destination=each, gateway=MACHINE))


async def test_a_pod_reaches_the_api_server_by_its_service(world: World) -> None:
    client = await world.pod("client")
    address = str(world.settings.service_range[1])

    for namespace in (client.namespace, world.machine):
        await becomes(lambda namespace=namespace: _is_told(namespace, address), wanted=True)  # type: ignore[misc]


async def _is_told(namespace: Namespace, address: str) -> bool:
    return b"gitVersion" in await namespace.run(lambda: _asked(address))


def _asked(address: str) -> bytes:
    try:
        with socket.create_connection((address, 443), timeout=5) as asking:
            asking.sendall(
                b"GET /version HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer admin\r\n\r\n"
            )
            said = b""
            while part := asking.recv(65536):
                said += part
            return said
    except OSError:
        return b""
