"""The guest's DHCP server: what it may do, and what becomes of it when something is killed."""

import asyncio
import os
import re
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from tests.component.host.net_world import (
    LEASE_SCRIPT,
    World,
    a_guest_on,
    a_world,
    in_kernel,
    lease_of,
    needs_root,
)

from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.base.errors import CommandFailed, ProgramNotFound
from kubevirt.host.net.apply import apply
from kubevirt.host.net.dnsmasq import Service, command, sealed, serving
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.network.dhcp import DhcpServer
from kubevirt.virt.network.dnsmasq import config
from kubevirt.virt.network.plan import InterfacePlan

pytestmark = [
    needs_root,
    pytest.mark.skipif(
        not all(map(shutil.which, ("dnsmasq", "busybox"))),
        reason="needs dnsmasq and busybox: install dnsmasq-base busybox-static",
    ),
]

CAP_NET_BIND_SERVICE = 1 << 10
CAP_NET_ADMIN = 1 << 12
CAP_NET_RAW = 1 << 13


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


async def served(world: World) -> tuple[InterfacePlan, DhcpServer]:
    """A pod with its network made, and the server to be run in it."""
    (plan,) = await world.plans({"name": "default", "masquerade": {}})
    await apply(world.pod, [plan])
    assert plan.dhcp is not None
    return plan, plan.dhcp


async def until_started_again(service: Service, starts: int, clock: Clock) -> float:
    """Seconds until the next instance answers."""
    began = clock.monotonic()
    async with clock.timeout(60):
        while service.starts == starts:  # the product needs no event for it
            await clock.sleep(0.002)
        await service.answers()
    return clock.monotonic() - began


def status_of(pid: int | None) -> dict[str, str]:
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return {
        key: value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())
    }


@pytest.mark.parametrize("ipv6", [False, True])
async def test_it_has_no_right_that_it_can_do_without(*, ipv6: bool, clock: Clock) -> None:
    with a_world(ipv6=ipv6) as world:
        _, server = await served(world)
        async with serving(world.pod, server, clock=clock) as service:
            status = await asyncio.to_thread(status_of, service.pid)
            namespace = os.stat(f"/proc/{service.pid}/ns/net")  # noqa: PTH116  # a magic link
    assert "0" not in status["Uid"].split()
    assert "0" not in status["Gid"].split()
    assert status["Groups"] == ""
    assert status["NoNewPrivs"] == "1"
    needed = CAP_NET_ADMIN | CAP_NET_BIND_SERVICE | (CAP_NET_RAW if ipv6 else 0)
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == needed
    assert (namespace.st_dev, namespace.st_ino) != Namespace.current().identity


async def test_killed_it_is_back_within_a_second_and_the_guest_keeps_its_lease(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    plan, server = await served(world)
    assert plan.card.tap is not None
    async with (
        serving(world.pod, server, clock=clock) as service,
        a_guest_on(world, plan.card.tap, server.mac) as guest,
    ):
        first = await lease_of(guest, tmp_path)
        for starts in range(1, 8):
            assert service.pid is not None
            os.kill(service.pid, signal.SIGKILL)
            assert await until_started_again(service, starts, clock) < 1
        again = await lease_of(guest, tmp_path)
        kept = ("ip", "subnet", "router", "serverid", "lease")
        assert [again[key] for key in kept] == [first[key] for key in kept]


async def test_a_guest_renews_with_the_next_server_what_the_last_one_gave(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    plan, server = await served(world)
    assert plan.card.tap is not None
    log = tmp_path / "client.log"
    script = tmp_path / "script"
    script.write_text(LEASE_SCRIPT + f'echo "$1 $ip" >> {log}\n')
    script.chmod(0o755)

    def logged() -> list[str]:
        return log.read_text().splitlines() if log.exists() else []

    async def until_logged(line: str) -> None:
        async with clock.timeout(60):
            while line not in logged():
                await clock.sleep(0.01)

    async with (
        serving(world.pod, server, clock=clock) as service,
        a_guest_on(world, plan.card.tap, server.mac) as guest,
        commands.spawn(
            *("nsenter", f"--net={guest.path}", "busybox", "udhcpc", "-f", "-i", "eth0"),
            *("-t", "20", "-T", "1", "-s", script),
            pass_fds=[guest.fd],
        ) as client,
    ):
        await until_logged("bound 10.0.2.2")
        assert service.pid is not None
        os.kill(service.pid, signal.SIGKILL)
        await until_started_again(service, 1, clock)
        client.send(signal.SIGUSR1)
        await until_logged("renew 10.0.2.2")


async def test_it_ends_with_its_body(world: World, clock: Clock) -> None:
    _, server = await served(world)
    async with serving(world.pod, server, clock=clock) as service:
        pid = service.pid
    assert service.pid is None
    assert not await asyncio.to_thread(Path(f"/proc/{pid}").exists)


OWNER = """
import asyncio, sys
import msgspec
from kubevirt.base.clock import SystemClock
from kubevirt.host.net.dnsmasq import serving
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.network.dhcp import DhcpServer

async def main():
    server = msgspec.json.decode(sys.argv[2], type=DhcpServer)
    with Namespace.of_descriptor(int(sys.argv[1])) as namespace:
        async with serving(namespace, server, clock=SystemClock()) as service:
            print(service.pid, flush=True)
            await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_it_ends_with_an_owner_that_is_killed(world: World, clock: Clock) -> None:
    _, server = await served(world)
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNER, str(world.pod.fd), msgspec.json.encode(server).decode()),
        stdout=asyncio.subprocess.PIPE,
        pass_fds=[world.pod.fd],
    )
    try:
        assert owner.stdout is not None
        pid = int(await owner.stdout.readline())
        ended = os.pidfd_open(pid)
    finally:
        owner.kill()
        await owner.wait()
    loop, gone = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(ended, gone.set)
    try:
        async with clock.timeout(60):
            await gone.wait()
    finally:
        with suppress(ProcessLookupError):  # what a failing test leaves ends all the same
            signal.pidfd_send_signal(ended, signal.SIGKILL)
        loop.remove_reader(ended)
        os.close(ended)


async def test_one_whose_owner_died_while_it_started_does_not_begin(world: World) -> None:
    """The kernel tells nobody of a parent that had died before it was asked to: such a server stayed for ever."""
    _, server = await served(world)
    configuration = sealed(config(server))
    try:
        begun = await commands.run(
            *("sh", "-c", '"$@"; echo "ended with $?"', "not its owner"),
            *command(world.pod, server, configuration),
            pass_fds=[world.pod.fd, configuration],
            timeout_s=30,
        )
    finally:
        os.close(configuration)
    assert begun.stdout == b"ended with 1\n"


async def test_a_server_that_cannot_start_says_why(world: World, clock: Clock) -> None:
    _, server = await served(world)
    with world.pod.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as other:
        other.bind(("", 67))
        with pytest.raises(CommandFailed, match=r"did not start: .*Address already in use"):
            async with serving(world.pod, server, clock=clock):
                pytest.fail("it serves")


async def test_a_missing_program_is_named_with_its_package(world: World, clock: Clock) -> None:
    _, server = await served(world)
    with pytest.raises(ProgramNotFound, match="apt-get install dnsmasq-base"):
        async with serving(world.pod, server, clock=clock, program="no-such-dnsmasq"):
            pytest.fail("it serves")


async def test_its_lines_come_to_our_log(
    world: World, clock: Clock, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    plan, server = await served(world)
    assert plan.card.tap is not None
    caplog.set_level("DEBUG", logger="kubevirt.host.net.dnsmasq")
    async with (
        serving(world.pod, server, clock=clock),
        a_guest_on(world, plan.card.tap, server.mac) as guest,
    ):
        await lease_of(guest, tmp_path)
        async with clock.timeout(60):
            while not any("DHCPACK" in each.getMessage() for each in caplog.records):
                await clock.sleep(0.01)
    # What the guest can make it say any number of times is not for everyone.
    levels = {each.levelname for each in caplog.records if "DHCPACK" in each.getMessage()}
    assert levels == {"DEBUG"}
    started = [each for each in caplog.records if "started, version" in each.getMessage()]
    assert [each.levelname for each in started] == ["INFO"]


SOLICIT, ADVERTISE = 1, 2
CLIENT_ID, IA_NA, IA_ADDRESS = 1, 3, 5


def advertised(guest_mac: str) -> tuple[str, str]:
    """The IPv6 address that a server offers to a card, and the server's own."""
    card = bytes.fromhex(guest_mac.replace(":", ""))
    identity = struct.pack("!HH", 3, 1) + card
    options = struct.pack("!HH", CLIENT_ID, len(identity)) + identity
    options += struct.pack("!HHIII", IA_NA, 12, 1, 0, 0)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.bind(("::", 546))
        for _ in range(20):
            client.sendto(
                struct.pack("!I", SOLICIT << 24 | 0x123456) + options,
                ("ff02::1:2", 547, 0, socket.if_nametoindex("eth0")),
            )
            try:
                answer, server = client.recvfrom(4096)
            except TimeoutError:
                continue
            assert answer[0] == ADVERTISE
            place = answer.index(struct.pack("!HH", IA_ADDRESS, 24)) + 4
            return socket.inet_ntop(socket.AF_INET6, answer[place : place + 16]), server[0]
    raise TimeoutError("no server answered")


async def test_an_ipv6_guest_is_offered_its_address_and_told_the_router(clock: Clock) -> None:
    with a_world(ipv6=True) as world:
        plan, server = await served(world)
        assert plan.card.tap is not None
        async with (
            serving(world.pod, server, clock=clock),
            a_guest_on(world, plan.card.tap, server.mac) as guest,
        ):

            def router() -> str | None:
                routes = in_kernel(guest, lambda kernel: kernel.routes(kernel.need("eth0")))
                return next((each.gateway for each in routes if each.destination == "::/0"), None)

            async with clock.timeout(60):
                while (found := await asyncio.to_thread(router)) is None:
                    await clock.sleep(0.1)
            offered, by = await guest.run(lambda: advertised(server.mac))
    assert offered == "fd10:0:2::2"
    assert re.sub("%.*", "", by) == found
