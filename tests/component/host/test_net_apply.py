"""Plans in a namespace: made once, made again, interrupted at every step, compared, taken away."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.component.host.net_world import (
    POD_MAC,
    World,
    a_world,
    address,
    in_kernel,
    links_in,
    needs_root,
    run_in,
)
from tests.unit.virt.pods import a_guest

from kubevirt.api.interfaces import MultusNetwork, Network
from kubevirt.base import commands
from kubevirt.host.net.apply import apply, undo, verify
from kubevirt.host.net.errors import NetworkFailed
from kubevirt.host.net.journal import Journal
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.pod import read_links, read_pod
from kubevirt.virt.network.facts import Route
from kubevirt.virt.network.names import pod_link
from kubevirt.virt.network.plan import InterfacePlan
from kubevirt.virt.network.planning import plan_network

pytestmark = [
    needs_root,
    pytest.mark.skipif(not shutil.which("nft"), reason="needs nft: install nftables"),
]

BINDINGS: dict[str, dict[str, Any]] = {"masquerade": {"masquerade": {}}, "bridge": {"bridge": {}}}


@pytest.fixture
def world() -> Iterator[World]:
    with a_world(ipv6=True) as made:
        yield made


async def planned(world: World, binding: str, **patch: Any) -> list[InterfacePlan]:
    return await world.plans({"name": "default", **BINDINGS[binding]}, **patch)


async def state(world: World) -> dict[str, Any]:
    """All of a pod's network that somebody could notice, without what counts and numbers."""
    pod_links = await read_links(world.pod)
    links = [
        (link.name, link.kind, link.is_up, link.learning, link.tap, link.bridge is not None)
        for link in links_in(world.pod).values()
    ]
    listing = json.loads((await run_in(world.pod, "nft", "-j", "list", "ruleset")).text)
    return {
        "addresses": {name: pod_links[name] for name in sorted(pod_links) if name != "tap0"},
        "links": sorted(links),
        "rules": [
            [part for part in each["rule"]["expr"] if "counter" not in part]
            for each in listing["nftables"]
            if "rule" in each
        ],
    }


class Fault(Exception):  # noqa: N818  # it stands for our own death
    """We die here."""


class DyingJournal(Journal):
    """Dies before the change of that number."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self._left = before

    def note(self, change: str) -> None:
        if self._left == 0:
            raise Fault(change)
        self._left -= 1
        super().note(change)


@pytest.mark.parametrize("binding", BINDINGS)
async def test_applying_twice_changes_nothing(world: World, binding: str) -> None:
    plans = await planned(world, binding)
    assert await apply(world.pod, plans)
    before = await state(world)
    assert await apply(world.pod, plans) == ()
    assert await state(world) == before
    assert await verify(world.pod, plans) == ()


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_death_at_any_step_is_mended_by_applying_again(binding: str) -> None:
    with a_world(ipv6=True) as world:
        plans = await planned(world, binding)
        steps = len(await apply(world.pod, plans))
        wanted = await state(world)
    assert steps > 10
    for step in range(steps):
        with a_world(ipv6=True) as world:
            with pytest.raises(Fault):
                await apply(world.pod, plans, DyingJournal(step))
            await apply(world.pod, plans)
            assert await state(world) == wanted, f"after dying at step {step}"


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_half_applied_plan_can_be_taken_away(binding: str) -> None:
    with a_world(ipv6=True) as world:
        before = await state(world)
        plans = await planned(world, binding)
        steps = len(await apply(world.pod, plans))
    for step in range(steps):
        with a_world(ipv6=True) as world:
            with pytest.raises(Fault):
                await apply(world.pod, plans, DyingJournal(step))
            await undo(world.pod, plans)
            assert await state(world) == before, f"after dying at step {step}"


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_death_while_taking_away_is_mended_in_both_directions(binding: str) -> None:
    with a_world(ipv6=True) as world:
        before = await state(world)
        plans = await planned(world, binding)
        await apply(world.pod, plans)
        wanted = await state(world)
        steps = len(await undo(world.pod, plans))
        assert await undo(world.pod, plans) == ()
        for step in range(steps):
            await apply(world.pod, plans)
            with pytest.raises(Fault):
                await undo(world.pod, plans, DyingJournal(step))
            await undo(world.pod, plans)
            assert await state(world) == before, f"undone after dying at step {step}"
            await apply(world.pod, plans)
            with pytest.raises(Fault):
                await undo(world.pod, plans, DyingJournal(step))
            await apply(world.pod, plans)
            assert await state(world) == wanted, f"applied after dying at step {step}"


async def test_differences_are_told_in_words_and_mended(world: World) -> None:
    plans = await planned(world, "masquerade")
    await apply(world.pod, plans)

    for command in (
        "ip link set k6t-eth0 mtu 1400",
        "ip link set tap0 down",
        "ip link set tap0 nomaster",
        "ip address add 10.9.9.9/24 dev k6t-eth0",
        "ip address del 10.0.2.1/24 dev k6t-eth0",
        "nft flush chain ip nat KUBEVIRT_PREINBOUND",
    ):
        await run_in(world.pod, *command.split())
    in_kernel(world.pod, lambda kernel: kernel.set_setting("net/ipv4/ip_forward", "0"))
    assert set(await verify(world.pod, plans)) == {
        "k6t-eth0 has the MTU 1400, not 1450",
        "k6t-eth0 lacks the address 10.0.2.1/24",
        "k6t-eth0 has the address 10.9.9.9/24, which nobody planned",
        "tap0 is not on the bridge k6t-eth0",
        "tap0 is down",
        "the setting net/ipv4/ip_forward is 0, not 1",
        "the nftables chain ip nat KUBEVIRT_PREINBOUND has other rules than planned",
    }
    assert await apply(world.pod, plans)
    assert await verify(world.pod, plans) == ()


@pytest.mark.parametrize("company", ["alone", "with a mesh"])
@pytest.mark.parametrize(
    "ports",
    [
        {},
        {"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}, {"port": 22}]},
        {"portRanges": [{"start": 8000, "end": 8100, "protocol": "TCP"}]},
    ],
)
async def test_every_kind_of_rules_is_recognised_after_it_was_loaded(
    world: World, ports: dict[str, Any], company: str
) -> None:
    guest = a_guest({"name": "default", "masquerade": {}, **ports})
    plans = plan_network(guest, await world.facts(istio=company == "with a mesh"))
    assert await apply(world.pod, plans)
    assert await verify(world.pod, plans) == ()
    assert await undo(world.pod, plans)
    assert "chain" not in (await run_in(world.pod, "nft", "list", "ruleset")).text


async def test_taking_away_what_was_never_made_leaves_a_pods_link_of_any_kind() -> None:
    """Where a kernel has no dummies a bridge stands in for one: the kind alone tells nothing."""
    with Namespace.new() as pod:
        in_kernel(pod, lambda kernel: kernel.add_bridge("eth0", mac=POD_MAC))
        in_kernel(pod, lambda kernel: address(kernel, "eth0", "10.244.1.5/24"))
        in_kernel(pod, lambda kernel: kernel.set_up(kernel.need("eth0")))
        guest = a_guest({"name": "default", "bridge": {}})
        plans = plan_network(guest, await read_pod(pod))
        assert await undo(pod, plans) == ()
        assert "eth0" in links_in(pod)


async def test_rules_of_others_in_the_pod_survive(world: World) -> None:
    plans = await planned(world, "masquerade")
    await run_in(world.pod, "nft", "add table inet mesh; add chain inet mesh keep")
    await apply(world.pod, plans)
    await undo(world.pod, plans)
    listing = (await run_in(world.pod, "nft", "list", "ruleset")).text
    assert " ".join(listing.split()) == "table inet mesh { chain keep { } }"


async def test_a_link_of_somebody_else_is_neither_used_nor_deleted(world: World) -> None:
    plans = await planned(world, "masquerade")

    in_kernel(
        world.pod,
        lambda kernel: kernel.add_veth("k6t-eth0", peer="other", peer_namespace=world.pod.fd),
    )
    with pytest.raises(NetworkFailed, match="there is a link by that name of another kind"):
        await apply(world.pod, plans)
    assert await undo(world.pod, plans) == ()
    assert links_in(world.pod)["k6t-eth0"].kind == "veth"


async def test_a_multiqueue_guest_has_a_multiqueue_tap(world: World) -> None:
    patch = {"devices": {"networkInterfaceMultiqueue": True}, "domain": {"cpu": {"cores": 2}}}
    single = await planned(world, "masquerade")
    several = await planned(world, "masquerade", **patch)
    assert several[0].queues == 2
    for plans, expected in ((single, False), (several, True)):
        await apply(world.pod, plans)
        tap = links_in(world.pod)["tap0"].tap
        assert tap is not None
        assert (tap.multi_queue, tap.owner, tap.group) == (expected, 107, 107)


ATTACH = """
import fcntl, struct, sys
fcntl.ioctl(int(sys.argv[1]), 0x400454CA, struct.pack("16sH22x", b"tap0", 0x5002))
"""


async def test_only_the_launchers_user_may_use_a_tap(world: World) -> None:
    await apply(world.pod, await planned(world, "masquerade"))

    def is_used_by(user: int) -> bool:
        # The device is opened for them: who may do that differs from machine to machine.
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        nothing = ["--inh-caps=-all", "--bounding-set=-all", "--clear-groups", "--no-new-privs"]
        python = str(Path(sys.executable).resolve())
        attaching = commands.run(
            "setpriv",
            *(f"--reuid={user}", f"--regid={user}", *nothing),
            *(python, "-I", "-c", ATTACH, str(device)),
            pass_fds=[device],
            check=False,
        )
        done = asyncio.run(attaching)
        os.close(device)
        assert done.exit_code == 0 or b"Operation not permitted" in done.stderr
        return done.exit_code == 0

    assert await world.pod.run(lambda: is_used_by(107))
    assert not await world.pod.run(lambda: is_used_by(108))


async def test_a_pods_own_address_is_kept_for_those_who_look_for_it(world: World) -> None:
    await apply(world.pod, await planned(world, "bridge"))
    links = await read_links(world.pod)
    assert links["eth0"].addresses == ("10.244.1.5/24", "fd00:10:244::5/64")
    assert links["eth0-nic"].addresses == ()


async def test_a_moved_link_is_not_taken_for_what_the_pod_had(world: World) -> None:
    await apply(world.pod, await planned(world, "bridge"))
    with pytest.raises(NetworkFailed, match="eth0 was moved aside for a guest already"):
        await world.facts()


async def test_a_second_network_is_bridged_beside_a_masqueraded_one(world: World) -> None:
    blue = Network(name="blue", multus=MultusNetwork(network_name="blue"))
    second = pod_link(blue)

    def plug_in(kernel: Kernel) -> None:
        kernel.set_up(kernel.add_veth("far", peer=second, peer_namespace=world.pod.fd))

    in_kernel(world.outside, plug_in)
    in_kernel(world.pod, lambda kernel: kernel.set_up(kernel.need(second)))
    before = await state(world)
    plans = await world.plans(
        {"name": "default", "masquerade": {}},
        {"name": "blue", "bridge": {}, "network": {"multus": {"networkName": "blue"}}},
    )
    assert [plan.dhcp is not None for plan in plans] == [True, False]
    assert len({plan.card.tap for plan in plans}) == 2
    await apply(world.pod, plans)
    assert await apply(world.pod, plans) == ()
    assert links_in(world.pod).keys() > {second, "eth0", "tap0", "k6t-eth0"}
    await undo(world.pod, plans)
    assert await state(world) == before


async def test_an_address_added_later_to_the_moved_link_is_noticed(world: World) -> None:
    plans = await planned(world, "bridge")
    await apply(world.pod, plans)
    in_kernel(world.pod, lambda kernel: address(kernel, "eth0-nic", "10.244.1.77/24"))
    (difference,) = await verify(world.pod, plans)
    assert difference == "eth0-nic has the address 10.244.1.77/24, which nobody planned"


@pytest.mark.parametrize("is_reached", ["by a route", "by nothing but the cable"])
async def test_a_pod_whose_gateway_is_in_no_network_of_its_own_gets_it_back(
    world: World, is_reached: str
) -> None:
    def like_a_plugin_that_routes(kernel: Kernel) -> None:
        link = kernel.need("eth0")
        for each in kernel.addresses(link):
            kernel.remove_address(link, each)
        address(kernel, "eth0", "10.244.9.9/32")
        if is_reached == "by a route":
            kernel.add_route(link, Route(destination="169.254.1.1/32"))
        kernel.add_route(link, Route(destination="0.0.0.0/0", gateway="169.254.1.1"))

    in_kernel(world.pod, like_a_plugin_that_routes)
    before = await world.facts()
    assert before.links["eth0"].routes[0].gateway == "169.254.1.1"
    plans = await planned(world, "bridge")
    await apply(world.pod, plans)
    await undo(world.pod, plans)
    assert await world.facts() == before
