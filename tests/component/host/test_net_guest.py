"""What a guest sees of its network: a real DHCP client and real connections through real plans."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.component.host.net_world import (
    POD_MAC,
    World,
    a_guest_on,
    a_web_server,
    a_world,
    address,
    fetch,
    in_kernel,
    lease_of,
    needs_root,
    use_lease,
)

from kubevirt.base.clock import Clock
from kubevirt.host.net.apply import apply, undo, verify
from kubevirt.host.net.dnsmasq import serving_all
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.network.facts import Route
from kubevirt.virt.network.plan import InterfacePlan

pytestmark = [
    needs_root,
    pytest.mark.skipif(
        not all(map(shutil.which, ("nft", "dnsmasq", "busybox"))),
        reason="needs nft, dnsmasq and busybox: install nftables dnsmasq-base busybox-static",
    ),
]

OPTIONS = {
    "bootFileName": "pxelinux.0",
    "ntpServers": ["192.0.2.1"],
    "privateOptions": [{"option": 240, "value": 'a,b="c"'}],
}


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


@asynccontextmanager
async def running(
    world: World, interface: dict[str, Any], clock: Clock, **patch: Any
) -> AsyncIterator[tuple[Namespace, InterfacePlan]]:
    """A guest with one interface, its network made and served."""
    (plan,) = await world.plans({"name": "default", **interface}, **patch)
    assert await apply(world.pod, [plan])
    assert plan.card.tap is not None
    assert plan.card.mac is not None
    async with (
        serving_all(world.pod, [plan], clock=clock),
        a_guest_on(world, plan.card.tap, plan.card.mac) as guest,
    ):
        yield guest, plan
    assert await verify(world.pod, [plan]) == ()


async def test_a_masqueraded_guest_hears_all_it_needs(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    interface = {"masquerade": {}, "dhcpOptions": OPTIONS}
    async with running(world, interface, clock, subdomain="web") as (guest, _):
        lease = await lease_of(guest, tmp_path, "26", "119", "240")
    domain = "web.default.svc.cluster.local"
    assert {
        key: lease.get(key) for key in ("ip", "subnet", "router", "dns", "hostname", "mtu")
    } == {
        "ip": "10.0.2.2",
        "subnet": "255.255.255.0",
        "router": "10.0.2.1",
        "dns": "10.96.0.10",
        "hostname": "testvm",
        "mtu": "1450",
    }
    assert lease["search"] == f"{domain} default.svc.cluster.local svc.cluster.local cluster.local"
    assert lease["domain"] == domain
    assert lease["ntpsrv"] == "192.0.2.1"
    assert lease["opt240"] == b'a,b="c"'.hex()


async def test_a_masqueraded_guest_goes_out_under_the_pods_address(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    async with (
        running(world, {"masquerade": {}}, clock) as (guest, _),
        a_web_server(world.outside, "10.244.1.1", 0, "outside") as web,
    ):
        use_lease(guest, await lease_of(guest, tmp_path))
        assert await fetch(guest, f"http://10.244.1.1:{web.port}/") == "outside"
        assert web.visitors == ["10.244.1.5"]


async def test_a_masqueraded_guest_is_reached_by_the_pods_address(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    async with running(world, {"masquerade": {}}, clock) as (guest, _):
        use_lease(guest, await lease_of(guest, tmp_path))
        async with a_web_server(guest, "10.0.2.2", 8080, "guest") as web:
            assert await fetch(world.outside, "http://10.244.1.5:8080/") == "guest"
            assert await fetch(world.pod, "http://127.0.0.1:8080/") == "guest"
            assert web.visitors == ["10.244.1.1", "10.0.2.1"]


async def test_only_the_ports_named_reach_a_masqueraded_guest(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    interface = {"masquerade": {}, "ports": [{"port": 8080}]}
    async with running(world, interface, clock) as (guest, _):
        use_lease(guest, await lease_of(guest, tmp_path))
        async with (
            a_web_server(guest, "10.0.2.2", 8080, "guest"),
            a_web_server(guest, "10.0.2.2", 8081, "guest"),
            a_web_server(world.pod, "10.244.1.5", 8082, "pod"),
        ):
            assert await fetch(world.outside, "http://10.244.1.5:8080/") == "guest"
            assert await fetch(world.outside, "http://10.244.1.5:8081/", patience_s=1) is None
            assert await fetch(world.outside, "http://10.244.1.5:8082/") == "pod"


async def test_a_bridged_guest_takes_the_pods_place(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    async with running(world, {"bridge": {}}, clock) as (guest, plan):
        assert plan.card.mac == POD_MAC
        lease = await lease_of(guest, tmp_path, "26")
        assert lease["ip"] == "10.244.1.5"
        assert lease["router"] == "10.244.1.1"
        assert lease["mtu"] == "1450"
        use_lease(guest, lease)
        async with (
            a_web_server(world.outside, "10.244.1.1", 0, "outside") as web,
            a_web_server(guest, "10.244.1.5", 8080, "guest"),
        ):
            assert await fetch(guest, f"http://10.244.1.1:{web.port}/") == "outside"
            assert web.visitors == ["10.244.1.5"]
            assert await fetch(world.outside, "http://10.244.1.5:8080/") == "guest"


async def test_a_pod_gets_its_network_back_from_a_bridged_guest(
    world: World, clock: Clock, tmp_path: Path
) -> None:
    before = await world.facts()
    async with running(world, {"bridge": {}}, clock) as (_, plan):
        pass
    assert await undo(world.pod, [plan])
    assert await world.facts() == before
    async with a_web_server(world.outside, "10.244.1.1", 0, "outside") as web:
        assert await fetch(world.pod, f"http://10.244.1.1:{web.port}/") == "outside"


async def test_an_ipv6_guest_goes_out_and_is_reached_by_the_pods_address(clock: Clock) -> None:
    with a_world(ipv6=True) as world:
        async with running(world, {"masquerade": {}}, clock) as (guest, _):
            in_kernel(guest, lambda kernel: address(kernel, "eth0", "fd10:0:2::2/120"))
            gateway = Route(destination="::/0", gateway="fd10:0:2::1")
            in_kernel(guest, lambda kernel: kernel.add_route(kernel.need("eth0"), gateway))
            async with (
                a_web_server(world.outside, "fd00:10:244::1", 0, "outside") as web,
                a_web_server(guest, "fd10:0:2::2", 8080, "guest"),
            ):
                assert await fetch(guest, f"http://[fd00:10:244::1]:{web.port}/") == "outside"
                assert web.visitors == ["fd00:10:244::5"]
                assert await fetch(world.outside, "http://[fd00:10:244::5]:8080/") == "guest"
