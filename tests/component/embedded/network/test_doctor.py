"""Rules of others that stop pods are named, and nothing else is."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.embedded.network import world as worlds
from tests.component.embedded.network.world import World, a_world
from tests.component.host.net_world import a_web_server, fetch, run_in

from kubevirt.embedded.doctor.finding import Finding, Verdict
from kubevirt.embedded.network.doctor import findings

pytestmark = worlds.marks


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


async def rules(world: World, *lines: str) -> None:
    for line in lines:
        await run_in(world.machine, "nft", line)


async def found(world: World) -> list[Finding]:
    return await findings(world.settings, world.machine)


async def test_a_machine_without_a_firewall_is_well(world: World) -> None:
    assert [each.verdict for each in await found(world)] == [Verdict.OK]


async def test_a_chain_that_drops_what_it_does_not_know_is_named(world: World) -> None:
    await rules(
        world,
        "add table inet filter",
        "add chain inet filter forward { type filter hook forward priority 0; policy drop; }",
        "add rule inet filter forward ct state established,related accept",
    )
    told = await found(world)
    assert [each.verdict for each in told] == [Verdict.WARNING, Verdict.WARNING]
    assert told[1].cause == (
        "the policy of the nftables chain “inet filter forward” stops packets of pods to the outside"
    )
    links = f"{world.settings.link_prefix}*"
    assert told[1].way_out.endswith(
        f'with: nft insert rule inet filter forward iifname "{links}" accept'
    )


async def test_the_way_out_helps(world: World) -> None:
    pod = await world.pod("pod")
    async with a_web_server(world.outside, worlds.OUTSIDE, 80, "outside"):
        await rules(
            world,
            "add table ip wall",
            "add chain ip wall forward { type filter hook forward priority 0; policy drop; }",
        )
        assert await fetch(pod.namespace, f"http://{worlds.OUTSIDE}", patience_s=1) is None
        for each in await found(world):
            await rules(world, each.way_out.partition("with: nft ")[2])
        assert await fetch(pod.namespace, f"http://{worlds.OUTSIDE}") == "outside"
        assert [each.verdict for each in await found(world)] == [Verdict.OK]


async def test_a_chain_of_iptables_is_changed_by_iptables(world: World) -> None:
    await rules(
        world,
        "add table ip filter",
        "add chain ip filter FORWARD { type filter hook forward priority 0; policy drop; }",
    )
    ways = [each.way_out.partition("with: ")[2] for each in await found(world)]
    links = f"{world.settings.link_prefix}+"
    assert ways == [
        *2 * [f"iptables -I FORWARD -i {links} -j ACCEPT"],
        f"iptables -I FORWARD -o {links} -j ACCEPT",
    ]


async def test_a_rule_is_named_by_its_handle(world: World) -> None:
    await rules(
        world,
        "add table inet wall",
        "add chain inet wall input { type filter hook input priority 0; policy accept; }",
        "add chain inet wall others",
        'add rule inet wall input iifname "lo" accept',
        'add rule inet wall input iifname != "eth0" jump others',
        "add rule inet wall others counter reject",
    )
    (told,) = await found(world)
    assert "the rule with handle" in told.cause
    assert "“inet wall others” stops questions of pods to the name server" in told.cause


async def test_a_rule_that_concerns_others_is_not_named(world: World) -> None:
    await rules(
        world,
        "add table inet wall",
        "add chain inet wall forward { type filter hook forward priority 0; policy accept; }",
        'add rule inet wall forward iifname "docker0" drop',
        "add rule inet wall forward ip saddr 192.0.2.9 drop",
        "add rule inet wall forward tcp dport 25 drop",
    )
    assert [each.verdict for each in await found(world)] == [Verdict.OK]
