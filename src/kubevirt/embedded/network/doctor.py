"""What on this machine stands in the way of a home's network.

Nothing of others is touched for it: whoever wrote a rule that stops us had a reason, and is told which one it
is.
"""

import asyncio
import json
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from kubevirt.base import commands
from kubevirt.base.errors import KubevirtError
from kubevirt.embedded.doctor.finding import Finding, ok, warning
from kubevirt.embedded.network import firewall, ranges
from kubevirt.embedded.network.firewall import Obstacle
from kubevirt.embedded.network.gateway import LINK_PREFIX
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.host.net import nft
from kubevirt.host.net.home import LINK_PREFIX as GUEST_LINK_PREFIX
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace

FIREWALL: Final = "firewall"
SERVICES: Final = "services"
RANGES: Final = "addresses"
RULESET_LIMIT: Final = 64 << 20
_ANSWER_S: Final = 2.0


async def findings(settings: NetworkSettings, machine: Namespace | None = None) -> list[Finding]:
    """`machine` is the namespace that stands for the machine's, for tests."""
    try:
        if machine is not None:
            return await machine.run(lambda: _findings(settings))
        with Namespace.current() as own:
            return await own.run(lambda: _findings(settings))
    except (KubevirtError, OSError) as error:
        return [
            warning(FIREWALL, f"the rules of nftables cannot be read: {error}", "run it as root")
        ]


async def served(settings: NetworkSettings, log: Path, machine: Namespace | None = None) -> Finding:
    """Of a home that is up. Whoever asks for a name is led by the rules to the name server: an answer takes both."""

    def call() -> None:
        socket.create_connection((str(settings.dns_address), 53), _ANSWER_S).close()

    try:
        await (machine.run(call) if machine else asyncio.to_thread(call))
    except OSError as error:
        cause = f"nobody answers at {settings.dns_address}, where rules lead to the names of Services: {error}"
        return warning(SERVICES, cause, f"look into {log}")
    return ok(
        SERVICES, f"{settings.dns_address} answers for names, so rules and name server are there"
    )


def _findings(settings: NetworkSettings) -> list[Finding]:
    return [*_of_ranges(settings), *_of_rules(settings)]


def _of_ranges(settings: NetworkSettings) -> list[Finding]:
    """A home keeps the ranges that it chose when they were free: somebody may have come later."""
    with Kernel() as kernel:
        names = {each.index: each.name for each in kernel.links()}
        routes = [(to, names.get(index, "")) for to, index in kernel.route_destinations()]
    theirs = [(to, link) for to, link in routes if not link.startswith(LINK_PREFIX)]
    found = ranges.overlapping((settings.pods, settings.services), theirs)
    return [
        warning(
            RANGES,
            f"the machine reaches {their} by {link}, and the home has {own} for itself: where both have an "
            "address, pods and Services come first",
            "give the other network other addresses, or begin anew with: virtctl down --delete-data",
        )
        for own, their, link in found
    ]


def _of_rules(settings: NetworkSettings) -> list[Finding]:
    links = f"{settings.link_prefix}*"
    wanted = firewall.packets(f"{settings.link_prefix}00000000", _uplink())
    found = firewall.obstacles(_ruleset(), wanted)
    if not found:
        return [ok(FIREWALL, "no rule of nftables stops all that pods send")]
    return [_told(each, links) for each in found]


def _told(obstacle: Obstacle, links: str) -> Finding:
    rule = f"the rule with handle {obstacle.handle}" if obstacle.handle else "the policy"
    words = f"{rule} of the nftables chain “{obstacle.place}” stops {obstacle.packet.what}"
    command = _command(obstacle, links)
    return warning(FIREWALL, words, f"let them pass, by its own program or with: {command}")


def _command(obstacle: Obstacle, links: str) -> str:
    """Chains that iptables made must be changed by it: it does not understand others' rules in them."""
    is_answer = obstacle.packet.state == "established"
    if obstacle.family == "ip" and obstacle.table == "filter" and obstacle.chain.isupper():
        side = "-o" if is_answer else "-i"
        return f"iptables -I {obstacle.chain} {side} {links.replace('*', '+')} -j ACCEPT"
    side = "oifname" if is_answer else "iifname"
    return f'nft insert rule {obstacle.place} {side} "{links}" accept'


def _uplink() -> str:
    """By which the machine reaches the outside; any name if it does not."""
    with Kernel() as kernel:
        index = next((at for where, at in kernel.route_destinations() if where == "0.0.0.0/0"), 0)
        names = {each.index: each.name for each in kernel.links()}
    name = names.get(index, "")
    return "eth0" if not name or name.startswith((LINK_PREFIX, GUEST_LINK_PREFIX)) else name


def _ruleset() -> Sequence[dict[str, Any]]:
    listing = commands.run(
        "nft", "-j", "list", "ruleset", timeout_s=nft.TIMEOUT_S, output_limit=RULESET_LIMIT
    )
    found: Sequence[dict[str, Any]] = json.loads(asyncio.run(listing).text)["nftables"]
    return found
