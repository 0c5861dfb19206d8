"""What somebody else breaks is mended; what a crash leaves is found again; nothing is left in the end."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.embedded.network import world as worlds
from tests.component.embedded.network.world import (
    OUTSIDE,
    World,
    a_pod,
    a_server_in,
    a_world,
    answers,
    becomes,
    ready,
    resolves,
    running,
)
from tests.component.host.net_world import a_web_server, address, fetch, in_kernel, links_in, run_in

from kubevirt.base.clock import Clock
from kubevirt.embedded.network import gateway
from kubevirt.embedded.network.gateway import NameTaken
from kubevirt.embedded.network.services import rules
from kubevirt.embedded.network.services.rules import Place
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.network.switchboard import Switchboard
from kubevirt.embedded.node.neighbours import NotNow
from kubevirt.host.net import netns, table
from kubevirt.host.net.journal import Journal
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace

pytestmark = worlds.marks

PORT = {"name": "http", "port": 80, "targetPort": 8080}
TARGET = {"name": "http", "port": 8080, "protocol": "TCP"}
FORWARDING = "net/ipv4/conf/eth0/forwarding"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


async def test_a_table_that_somebody_flushed_or_removed_is_loaded_again(world: World) -> None:
    server, client = await world.pod("server"), await world.pod("client")
    async with a_server_in(server, "hello"):
        address = await world.service("web", PORT)
        await world.endpoints("web", [TARGET], ready(server))
        await answers(client.namespace, f"http://{address}", "hello")

        async def guards() -> object:
            """Rules that are the same whoever serves names by now."""
            found = await world.machine.run(lambda: table.listed(world.settings.table))
            return found and {name: found.chains.get(name) for name in ("forward", "input")}

        before = await guards()
        for word in ("flush", "delete"):
            await run_in(world.machine, "nft", word, "table", "inet", world.settings.table)
            await becomes(guards, before)
            await answers(client.namespace, f"http://{address}", "hello")


async def test_links_that_somebody_removed_are_laid_again(world: World) -> None:
    server, client = await world.pod("server"), await world.pod("client")
    link = world.settings.link(server.uid)
    async with a_server_in(server, "hello"):
        for name in (link, world.settings.gateway_link):
            in_kernel(world.machine, lambda kernel, name=name: kernel.delete(kernel.need(name)))  # type: ignore[misc]
            await answers(client.namespace, f"http://{server.address}:8080", "hello")
            await answers(world.machine, f"http://{server.address}:8080", "hello")


async def test_forwarding_that_somebody_switched_off_is_switched_on(world: World) -> None:
    client = await world.pod("client")
    async with a_web_server(world.outside, OUTSIDE, 80, "outside"):
        assert await fetch(client.namespace, f"http://{OUTSIDE}") == "outside"
        in_kernel(world.machine, lambda kernel: kernel.set_setting(FORWARDING, "0"))
        await answers(client.namespace, f"http://{OUTSIDE}", "outside")


async def test_pods_keep_their_network_while_nobody_is_there_and_are_found_again(
    tmp_path: Path,
) -> None:
    async with a_world(tmp_path) as world:
        server, client = await world.pod("server"), await world.pod("client")
        async with a_server_in(server, "hello"):
            address = await world.service("web", PORT)
            await world.endpoints("web", [TARGET], ready(server))
            await answers(client.namespace, f"http://{address}", "hello")
            await world.down()
            assert await fetch(client.namespace, f"http://{address}") == "hello"
            before = set(links_in(world.machine))
            await world.up()
            assert set(links_in(world.machine)) == before
            again = await world.networks.node("node01").set_up(server.pod)
            assert again == server.network
            await answers(client.namespace, f"http://{address}", "hello")
            name = "web.default.svc.cluster.local"
            await resolves(client.namespace, str(world.settings.dns_address), name, address)


async def test_after_a_start_of_the_machine_a_pod_has_its_address_again(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        pod = await world.pod("pod")
        await world.down()
        for name in (world.settings.link(pod.uid), world.settings.gateway_link):
            in_kernel(world.machine, lambda kernel, name=name: kernel.delete(kernel.need(name)))  # type: ignore[misc]
        await world.machine.run(lambda: table.unload(world.settings.table))
        netns.remove(Path(pod.network.namespace))
        await asyncio.to_thread(Path(pod.network.namespace).touch)  # a file that was bound once
        await world.up()
        again = await world.networks.node("node01").set_up(pod.pod)
        assert again == pod.network
        with Namespace.at(again.namespace) as inside:
            async with a_web_server(inside, pod.address, 80, "again"):
                assert await fetch(world.machine, f"http://{pod.address}") == "again"


async def test_a_pod_that_was_half_made_is_finished(tmp_path: Path) -> None:
    """Whatever was done when the process died, the rest is done the next time."""
    async with a_world(tmp_path) as world:
        pod, client = await world.pod("pod"), await world.pod("client")
        await world.down()

        def unfinished(kernel: Kernel) -> None:
            link = kernel.need("eth0")
            kernel.remove_address(link, kernel.addresses(link)[0])
            kernel.set_down(link)

        in_kernel(pod.namespace, unfinished)
        await world.up()
        assert await world.networks.node("node01").set_up(pod.pod) == pod.network
        async with a_server_in(pod, "hello"):
            await answers(client.namespace, f"http://{pod.address}:8080", "hello")


async def test_all_is_gone_in_the_end(tmp_path: Path) -> None:
    async with a_world(tmp_path, nodes=("node01", "node02")) as world:
        before = {"lo", "eth0"}
        pod = await world.pod("pod")
        assert set(links_in(world.machine)) > before
        assert in_kernel(world.machine, lambda kernel: kernel.setting(FORWARDING)) == "1"
        pid = world.networks.dns_pid
        await world.networks.tear_down_all()
        assert set(links_in(world.machine)) == before
        assert await world.machine.run(lambda: table.listed(world.settings.table)) is None
        assert in_kernel(world.machine, lambda kernel: kernel.setting(FORWARDING)) == "0"
        assert await asyncio.to_thread(_left, world.settings.folder, pid) == []
        pod.namespace.close()


def _left(folder: Path, pid: int | None) -> list[str]:
    """Files, mounts, a process."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return [
        *(str(path) for path in folder.rglob("*") if path.is_file()),
        *(line for line in mounts if str(folder) in line),
        *([f"process {pid}"] if Path(f"/proc/{pid}").exists() else []),
    ]


async def test_two_homes_on_one_machine_leave_each_other_alone(
    world: World, tmp_path: Path
) -> None:
    pod = await world.pod("pod")
    settings = NetworkSettings(
        folder=tmp_path / "other",
        api_port=1,
        home_id="0" * 8,
        pods="10.202.0.0/16",
        services="10.203.0.0/16",
    )
    other = Switchboard(settings, world.machine)
    await other.open()
    path, _ = await other.connect("node01", "uid", "default/other", {})
    with Namespace.at(path) as inside:
        async with a_web_server(world.outside, OUTSIDE, 80, "outside"):
            await world.networks.tear_down_all()
            assert in_kernel(world.machine, lambda kernel: kernel.setting(FORWARDING)) == "1"
            # Its rules are loaded by whoever knows its Services; here it has none.
            place = Place(
                table=settings.table,
                links=f"{settings.link_prefix}*",
                gateway=str(settings.gateway),
                pods=settings.pods,
                services=settings.services,
            )
            await world.machine.run(lambda: table.Loader().load(rules.table(place, [])))
            assert await fetch(inside, f"http://{OUTSIDE}") == "outside"
    await other.take_away()
    other.close()
    assert set(links_in(world.machine)) == {"lo", "eth0"}
    assert in_kernel(world.machine, lambda kernel: kernel.setting(FORWARDING)) == "0"
    pod.namespace.close()


async def test_a_name_that_somebody_else_has_is_told_in_one_sentence(
    tmp_path: Path, clock: Clock
) -> None:
    async with a_world(tmp_path) as world:
        await world.networks.tear_down_all()
        name = world.settings.gateway_link
        in_kernel(world.machine, lambda kernel: kernel.add_bridge(name, mac="0a:00:00:00:00:01"))
        with pytest.raises(NameTaken, match=f"needs a link {name}, .* ip link delete {name}"):
            async with running(world, clock):
                pytest.fail("it runs")
        in_kernel(world.machine, lambda kernel: kernel.delete(kernel.need(name)))


async def test_a_pod_for_which_there_is_no_address_is_told_so(tmp_path: Path) -> None:
    async with a_world(
        tmp_path, pods="10.200.0.0/27"
    ) as world:  # one address is given out to all others
        node = world.networks.node("node01")
        pods = [await world.pod(f"pod-{number}") for number in range(15)]
        assert len({pod.address for pod in pods}) == 15
        with pytest.raises(
            NotNow, match=r"no free address .* all 15 addresses of 10\.200\.0\.0/27"
        ) as refused:
            await node.set_up(a_pod("one-too-many"))
        assert refused.value.reason == "FailedCreatePodSandBox"
        await node.tear_down(pods[3].uid)
        assert (await world.pod("next")).address == pods[3].address


async def test_an_address_that_was_given_back_is_not_given_again_at_once(world: World) -> None:
    node = world.networks.node("node01")
    first = await world.pod("first")
    await node.tear_down(first.uid)
    assert (await world.pod("second")).address != first.address
    assert world.settings.link(first.uid) not in links_in(world.machine)


async def test_pods_of_two_nodes_reach_each_other_and_the_nodes(tmp_path: Path) -> None:
    async with a_world(tmp_path, nodes=("node01", "node02")) as world:
        one, other = await world.pod("one"), await world.pod("other", node="node02")
        node = world.networks.node("node02")
        with Namespace.at(node.namespace) as inside:
            async with (
                a_server_in(other, "other"),
                a_web_server(inside, node.address, 80, "node"),
            ):
                assert await fetch(one.namespace, f"http://{other.address}:8080") == "other"
                assert await fetch(one.namespace, f"http://{node.address}") == "node"
                assert await fetch(inside, f"http://{other.address}:8080") == "other"
                assert await fetch(world.machine, f"http://{node.address}") == "node"


async def test_a_pod_of_the_hosts_network_has_the_nodes(tmp_path: Path) -> None:
    async with a_world(tmp_path, nodes=("node01", "node02")) as world:
        for name, path in (("node01", ""), ("node02", world.networks.node("node02").namespace)):
            node = world.networks.node(name)
            found = await node.set_up(a_pod("pod", host_network=True))
            assert (found.namespace, found.addresses) == (path, (node.address,))
            assert f"nameserver {OUTSIDE}" in found.resolver


async def test_a_pod_cannot_speak_for_another(world: World) -> None:
    """Packets under an address that is not its own end at the machine."""
    server, client, victim = [await world.pod(name) for name in ("server", "client", "victim")]
    heard = server.namespace.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    heard.bind((server.address, 9000))
    heard.settimeout(60)

    def send(source: str) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaking:
            speaking.bind((source, 0))
            speaking.sendto(b"hello", (server.address, 9000))

    in_kernel(client.namespace, lambda kernel: address(kernel, "eth0", f"{victim.address}/32"))
    with heard:
        client.namespace.call(lambda: send(client.address))
        assert await asyncio.to_thread(heard.recv, 10) == b"hello"
        heard.settimeout(1)
        client.namespace.call(lambda: send(victim.address))
        with pytest.raises(TimeoutError):
            await asyncio.to_thread(heard.recv, 10)


async def test_a_second_look_changes_nothing(world: World) -> None:
    await world.pod("pod")
    journal = Journal()
    await world.machine.run(lambda: gateway.make(world.settings, journal))
    assert journal.changes == []
