"""A home's network on a machine that is itself a namespace: what goes out, what stays, what is left.

outside ──veth── machine: eth0 … k6h-* ──veth── home: eth0
"""

import asyncio
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

import pytest
from tests.component.host.net_world import (
    World,
    a_guest_on,
    a_web_server,
    a_world,
    fetch,
    in_kernel,
    lease_of,
    links_in,
    needs_root,
    run_in,
    use_lease,
)
from tests.unit.virt.pods import a_guest

from kubevirt.base.clock import Clock
from kubevirt.host.net.apply import apply
from kubevirt.host.net.dnsmasq import serving_all
from kubevirt.host.net.errors import NetworkFailed
from kubevirt.host.net.home import LINK_PREFIX, Home, clean_up, home
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.pod import read_pod
from kubevirt.host.net.resolver import Resolver, parse
from kubevirt.virt.network.facts import Route
from kubevirt.virt.network.planning import plan_network

pytestmark = [
    needs_root,
    pytest.mark.skipif(not shutil.which("nft"), reason="needs nft: install nftables"),
]

FORWARDING = "net/ipv4/conf/eth0/forwarding"
MACHINE = "10.244.1.5"
OUTSIDE = "10.244.1.1"


@dataclass(frozen=True)
class Machine:
    """A machine with one uplink, which is all that a home sees of it."""

    world: World
    folder: Path

    @property
    def itself(self) -> Namespace:
        return self.world.pod

    @asynccontextmanager
    async def home(
        self, *avoid: str, resolv_conf: str = "nameserver 192.0.2.53\n"
    ) -> AsyncIterator[Home]:
        file = self.folder.with_name("resolv.conf")
        file.write_text(resolv_conf)
        async with home(
            self.folder, machine=self.itself, resolver_files=[file], avoid=avoid
        ) as made:
            yield made

    def setting(self, key: str = FORWARDING) -> str | None:
        return in_kernel(self.itself, lambda kernel: kernel.setting(key))

    def set_setting(self, key: str, value: str) -> None:
        in_kernel(self.itself, lambda kernel: kernel.set_setting(key, value))

    async def rules(self) -> str:
        return (await run_in(self.itself, "nft", "list", "ruleset")).text

    def home_links(self) -> list[str]:
        return [name for name in links_in(self.itself) if name.startswith(LINK_PREFIX)]

    async def is_clean(self) -> bool:
        records = [each.name for each in self.folder.glob("*.home")]
        return not (records or self.home_links() or await self.rules())


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with a_world() as world:
        made = Machine(world, tmp_path / "homes")
        made.set_setting("net/ipv4/ip_forward", "0")
        yield made


async def test_a_home_goes_out_under_the_machines_address(machine: Machine) -> None:
    async with (
        machine.home() as made,
        a_web_server(machine.world.outside, OUTSIDE, 0, "outside") as web,
    ):
        assert await fetch(made.namespace, f"http://{OUTSIDE}:{web.port}/") == "outside"
        assert web.visitors == [MACHINE]
        assert machine.setting() == "1"
        assert machine.setting("net/ipv4/ip_forward") == "0"
        assert any("forwarding is switched on for eth0" in note for note in made.notes)
    assert await machine.is_clean()
    assert machine.setting() == "0"


async def test_the_machine_gets_in_and_strangers_do_not(machine: Machine) -> None:
    async with machine.home() as made, a_web_server(made.namespace, made.address, 80, "home"):
        assert await fetch(machine.itself, f"http://{made.address}/") == "home"
        in_kernel(
            machine.world.outside,
            lambda kernel: kernel.add_route(
                kernel.need("pod0"), Route(destination=f"{made.address}/32", gateway=MACHINE)
            ),
        )
        outside = machine.world.outside
        assert await fetch(outside, f"http://{made.address}/", patience_s=0.5) is None


async def test_a_guest_at_home_has_a_network(
    machine: Machine, clock: Clock, tmp_path: Path
) -> None:
    async with machine.home() as made:
        facts = await read_pod(made.namespace, made.resolver)
        plans = plan_network(a_guest({"name": "default", "masquerade": {}}), facts)
        await apply(made.namespace, plans)
        inside = World(machine.itself, made.namespace)
        async with (
            serving_all(made.namespace, plans, clock=clock) as (service,),
            a_guest_on(inside, "tap0", plans[0].card.mac or "") as guest,
            a_web_server(machine.world.outside, OUTSIDE, 0, "outside") as web,
        ):
            lease = await lease_of(guest, tmp_path)
            assert lease["dns"] == "192.0.2.53"
            use_lease(guest, lease)
            assert await fetch(guest, f"http://{OUTSIDE}:{web.port}/") == "outside"
            assert web.visitors == [MACHINE]
            async with a_web_server(guest, "10.0.2.2", 8080, "guest"):
                assert await fetch(machine.itself, f"http://{made.address}:8080/") == "guest"
            assert service.starts == 1
    assert await machine.is_clean()


async def test_a_home_is_made_in_a_namespace_that_is_there_already(machine: Machine) -> None:
    with Namespace.new() as given:
        async with home(
            machine.folder, machine=machine.itself, inside=given, resolver_files=[]
        ) as made:
            assert made.namespace is given
            assert (await read_pod(given)).links["eth0"].addresses == (f"{made.address}/30",)
        assert "eth0" not in links_in(given)
    assert await machine.is_clean()


async def test_homes_do_not_disturb_each_other(machine: Machine) -> None:
    async with machine.home() as one:
        async with machine.home() as other:
            assert one.address != other.address
            assert len(machine.home_links()) == 2
        assert machine.setting() == "1"
        async with a_web_server(machine.world.outside, OUTSIDE, 0, "outside") as web:
            assert await fetch(one.namespace, f"http://{OUTSIDE}:{web.port}/") == "outside"
    assert machine.setting() == "0"
    assert await machine.is_clean()


async def test_the_last_home_switches_off_what_the_first_switched_on(machine: Machine) -> None:
    async with AsyncExitStack() as second:
        async with machine.home():
            made = await second.enter_async_context(machine.home())
        assert machine.setting() == "1"
        async with a_web_server(machine.world.outside, OUTSIDE, 0, "outside") as web:
            assert await fetch(made.namespace, f"http://{OUTSIDE}:{web.port}/") == "outside"
    assert machine.setting() == "0"
    assert await machine.is_clean()


async def test_what_others_switched_on_stays_on(machine: Machine) -> None:
    machine.set_setting(FORWARDING, "1")
    async with machine.home() as made:
        assert not any("forwarding" in note for note in made.notes)
    assert machine.setting() == "1"
    machine.set_setting(FORWARDING, "0")
    async with machine.home():
        machine.set_setting("net/ipv4/ip_forward", "1")
    assert machine.setting() == "1"


async def test_a_home_takes_a_network_that_the_machine_does_not_use(machine: Machine) -> None:
    def take(kernel: Kernel) -> None:
        for taken in ("172.16.0.0/12", "192.168.0.0/16"):
            kernel.add_route(kernel.need("eth0"), Route(destination=taken, gateway=OUTSIDE))

    in_kernel(machine.itself, take)
    async with machine.home("10.0.0.0/9") as made:
        facts = await read_pod(made.namespace)
        network = ip_network(facts.links["eth0"].addresses[0], strict=False)
        assert network.subnet_of(ip_network("10.128.0.0/9"))  # type: ignore[arg-type]  # both IPv4
        assert not network.overlaps(ip_network("10.244.1.0/24"))
    with pytest.raises(NetworkFailed, match="no private network is free on this machine"):
        async with machine.home("10.0.0.0/8"):
            pytest.fail("it has a network")
    assert await machine.is_clean()


OWNER = """
import asyncio, sys
from pathlib import Path
from kubevirt.host.net.home import home

async def main():
    async with home(Path(sys.argv[1]), resolver_files=[]) as made:
        print(made.address, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@asynccontextmanager
async def an_owner(machine: Machine) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another program on the same machine, with a home of its own."""
    owner = await asyncio.create_subprocess_exec(
        *("nsenter", f"--net={machine.itself.path}"),
        *(sys.executable, "-c", OWNER, machine.folder),
        stdout=asyncio.subprocess.PIPE,
        pass_fds=[machine.itself.fd],
    )
    try:
        assert owner.stdout is not None
        assert await owner.stdout.readline()
        yield owner
    finally:
        if owner.returncode is None:
            owner.kill()
        await owner.wait()


async def test_what_a_killed_owner_left_is_cleaned_up(machine: Machine) -> None:
    async with an_owner(machine) as owner:
        assert await clean_up(machine.folder, machine.itself) == ()
        owner.send_signal(signal.SIGKILL)
        await owner.wait()
    assert not await machine.is_clean()
    assert machine.setting() == "1"
    assert await clean_up(machine.folder, machine.itself)
    assert await machine.is_clean()
    assert machine.setting() == "0"
    assert await clean_up(machine.folder, machine.itself) == ()


async def test_the_next_home_cleans_up_and_leaves_the_living_alone(machine: Machine) -> None:
    async with an_owner(machine) as dead, an_owner(machine):
        dead.kill()
        await dead.wait()
        async with machine.home():
            assert len(list(machine.folder.glob("*.home"))) == 2
            assert len(machine.home_links()) == 2


async def test_a_record_of_another_version_keeps_nobody_from_a_home(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    machine.folder.mkdir(mode=0o700)
    (machine.folder / "strange.home").write_text('{"id": 7}')
    async with machine.home():
        assert len(machine.home_links()) == 1
    assert "a record of a home cannot be read" in caplog.text
    assert not machine.home_links()


async def test_the_cable_of_a_killed_owner_is_gone_at_once(machine: Machine, clock: Clock) -> None:
    """Its namespace had no other holder, and a cable does not survive one of its ends."""
    async with an_owner(machine) as owner:
        assert machine.home_links()
        owner.kill()
        await owner.wait()
        async with clock.timeout(60):
            while machine.home_links():
                await clock.sleep(0.01)


async def test_a_home_given_up_while_it_is_made_leaves_nothing(machine: Machine) -> None:
    async def live() -> None:
        async with machine.home():
            await asyncio.Event().wait()

    for turns in range(12):
        task = asyncio.ensure_future(live())
        for _ in range(turns):
            await asyncio.sleep(0.004)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await machine.is_clean(), turns
        assert machine.setting() == "0"


async def test_a_firewall_that_drops_is_named(machine: Machine) -> None:
    await run_in(
        machine.itself,
        "nft",
        "add table inet guard; add chain inet guard gate "
        "{ type filter hook forward priority 0; policy drop; }",
    )
    before = await machine.rules()
    async with machine.home() as made:
        assert any("inet guard gate" in note for note in made.notes)
    assert await machine.rules() == before


async def test_a_resolver_on_loopback_is_passed_over(machine: Machine, tmp_path: Path) -> None:
    async with machine.home(resolv_conf="nameserver 127.0.0.53\nsearch lan\n") as made:
        assert made.resolver == Resolver()
        assert any("name servers answer on its own loopback only" in each for each in made.notes)


def test_resolv_conf_is_read_as_libc_reads_it() -> None:
    text = """
# nameserver 192.0.2.1
nameserver 192.0.2.2
nameserver fe80::1%eth0
nameserver nonsense
domain old.example
search one.example two.example
options ndots:5
"""
    assert parse(text) == Resolver(
        nameservers=("192.0.2.2", "fe80::1"), search_domains=("one.example", "two.example")
    )


async def test_a_machine_that_forwards_ipv6_takes_the_home_along(tmp_path: Path) -> None:
    with a_world(ipv6=True) as world:
        machine = Machine(world, tmp_path / "homes")
        machine.set_setting("net/ipv6/conf/all/forwarding", "1")
        async with (
            machine.home() as made,
            a_web_server(world.outside, "fd00:10:244::1", 0, "outside") as web,
        ):
            assert await fetch(made.namespace, f"http://[fd00:10:244::1]:{web.port}/") == "outside"
            assert web.visitors == ["fd00:10:244::5"]
        assert await machine.is_clean()
        machine.set_setting("net/ipv6/conf/all/forwarding", "0")
        async with machine.home() as made:
            facts = await read_pod(made.namespace)
            assert len(facts.links["eth0"].addresses) == 1
