"""Names of Services and of the pods behind headless ones, asked for from within a pod."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.embedded.network import world as worlds
from tests.component.embedded.network.world import (
    AAAA,
    OUTSIDE,
    PTR,
    SRV,
    TXT,
    World,
    a_server_in,
    a_world,
    answers,
    becomes,
    lookup,
    ready,
    resolves,
)

from kubevirt.base.clock import Clock
from kubevirt.host.net.dnsmasq_life import Served, Service

pytestmark = worlds.marks

PORT = {"name": "http", "port": 80, "targetPort": 8080}
TARGET = {"name": "http", "port": 8080, "protocol": "TCP"}
DOMAIN = "default.svc.cluster.local"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


@pytest.fixture
def server(world: World) -> str:
    return str(world.settings.dns_address)


async def test_a_service_has_a_name_and_its_address_too(world: World, server: str) -> None:
    client = await world.pod("client")
    address = await world.service("web", PORT)
    for namespace in (client.namespace, world.machine):
        await resolves(namespace, server, f"web.{DOMAIN}", address)
    reverse = f"{'.'.join(reversed(address.split('.')))}.in-addr.arpa"
    found = await lookup(client.namespace, server, reverse, PTR)
    assert found is not None
    assert found.data == (_wire(f"web.{DOMAIN}"),)


async def test_a_name_of_nobody_is_said_to_be_one(world: World, server: str) -> None:
    client = await world.pod("client")
    nobody = await lookup(client.namespace, server, f"nobody.{DOMAIN}")
    assert nobody is not None
    assert (nobody.code, nobody.data) == (3, ())
    known = await lookup(client.namespace, server, f"kubernetes.{DOMAIN}", AAAA)
    assert known is not None
    assert (known.code, known.data) == (0, ())  # there is such a name, without such an address


async def test_a_port_with_a_name_is_found_by_it(world: World, server: str) -> None:
    client = await world.pod("client")
    address = await world.service("web", PORT)
    await resolves(client.namespace, server, f"web.{DOMAIN}", address)
    found = await lookup(client.namespace, server, f"_http._tcp.web.{DOMAIN}", SRV)
    assert found is not None
    assert found.data == (b"\0\0\0\x64\0\x50" + _wire(f"web.{DOMAIN}"),)


async def test_pods_behind_a_headless_service_have_names(world: World, server: str) -> None:
    client, one, other = [await world.pod(name) for name in ("client", "one", "other")]
    await world.service("db", PORT, clusterIP="None")
    unready = ready(other, conditions={"ready": False})
    await world.endpoints("db", [TARGET], ready(one, hostname="db-0"), unready)
    await resolves(client.namespace, server, f"db.{DOMAIN}", one.address)
    await resolves(client.namespace, server, f"db-0.db.{DOMAIN}", one.address)
    await world.endpoints("db", [TARGET], ready(one, hostname="db-0"), ready(other))
    await resolves(client.namespace, server, f"db.{DOMAIN}", one.address, other.address)
    dashed = other.address.replace(".", "-")
    await resolves(client.namespace, server, f"{dashed}.db.{DOMAIN}", other.address)
    await world.endpoints("db", [TARGET])
    await resolves(client.namespace, server, f"db.{DOMAIN}")


async def test_a_service_may_be_an_alias_of_another(world: World, server: str) -> None:
    client = await world.pod("client")
    address = await world.service("web", PORT)
    await world.service("alias", type="ExternalName", externalName=f"web.{DOMAIN}")
    await world.service("here", type="ExternalName", externalName="localhost")
    await resolves(client.namespace, server, f"alias.{DOMAIN}", address)
    # As the machine itself knows that name.
    await resolves(client.namespace, server, f"here.{DOMAIN}", "127.0.0.1")


async def test_other_names_are_asked_of_whom_the_machine_asks(
    world: World, server: str, clock: Clock
) -> None:
    client = await world.pod("client")
    config = f"listen-address={OUTSIDE}\nbind-interfaces\nno-hosts\nno-resolv\nhost-record=example.org,198.51.100.7\n"
    served = Served(what="names outside", config=config, capabilities=("net_bind_service",))
    upstream = Service(world.outside, served, clock=clock)
    task = asyncio.ensure_future(upstream.run())
    try:
        await upstream.answers()
        await resolves(client.namespace, server, "example.org", "198.51.100.7")
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_a_service_is_reached_by_its_name(world: World) -> None:
    """As a program in a pod does it: by the resolver that the pod was told of."""
    server, client = await world.pod("server"), await world.pod("client")
    assert client.network.resolver == (
        f"search {DOMAIN} svc.cluster.local cluster.local lab.example\n"
        f"nameserver {world.settings.dns_address}\n"
        "options ndots:5\n"
    )
    async with a_server_in(server, "hello"):
        await world.service("web", PORT)
        await world.endpoints("web", [TARGET], ready(server))
        nameserver = str(world.settings.dns_address)
        found = await _address(client, nameserver, f"web.{DOMAIN}")
        await answers(client.namespace, f"http://{found}", "hello")


async def _address(client: worlds.RunningPod, nameserver: str, name: str) -> str:
    async def is_known() -> bool:
        answer = await lookup(client.namespace, nameserver, name)
        return answer is not None and bool(answer.addresses)

    await becomes(is_known, wanted=True)
    answer = await lookup(client.namespace, nameserver, name)
    assert answer is not None
    return answer.addresses.pop()


async def test_no_question_is_lost_while_services_come_and_go(world: World, server: str) -> None:
    client = await world.pod("client")
    address = await world.service("web", PORT)
    await resolves(client.namespace, server, f"web.{DOMAIN}", address)
    first = world.networks.dns_pid

    async def ask() -> None:
        while world.networks.dns_pid == first:
            await asked()
        for _ in range(50):  # the change itself, and after it
            await asked()

    async def asked() -> None:
        answer = await lookup(client.namespace, server, f"web.{DOMAIN}")
        assert answer is not None
        assert answer.addresses == {address}

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(ask())
        await world.service("other", PORT)


async def test_a_name_server_that_is_killed_is_back(world: World, server: str) -> None:
    client = await world.pod("client")
    address = await world.service("web", PORT)
    await resolves(client.namespace, server, f"web.{DOMAIN}", address)
    pid = world.networks.dns_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)

    async def is_another() -> bool:
        return world.networks.dns_pid not in (pid, None)

    await becomes(is_another, wanted=True)
    await resolves(client.namespace, server, f"web.{DOMAIN}", address)


async def test_the_version_of_the_specification_is_told(world: World, server: str) -> None:
    client = await world.pod("client")
    found = await lookup(client.namespace, server, "dns-version.cluster.local", TXT)
    assert found is not None
    assert found.data == (b"\x051.1.0",)


def _wire(name: str) -> bytes:
    return b"".join(bytes([len(each)]) + each.encode() for each in name.split(".")) + b"\0"
