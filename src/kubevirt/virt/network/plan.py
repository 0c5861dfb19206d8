"""A plan for one interface, and how to take it away again."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.network.dhcp import DhcpServer
from kubevirt.virt.network.facts import PodLink
from kubevirt.virt.network.links import Bridge, Dummy, Link, MovedLink, Sysctl, Tap

Transaction = Mapping[str, Any]
"""Commands for `nft -j -f -`: all of them take effect, or none."""


class InterfacePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Applied in the order of its fields; applying it twice changes nothing."""

    interface: str
    links: tuple[Link, ...]
    sysctls: tuple[Sysctl, ...] = ()
    ruleset: Transaction | None = None
    dhcp: DhcpServer | None = None
    card: InterfaceFacts
    """For the domain."""
    queues: int = 0
    undo_ruleset: Transaction | None = None
    restores: PodLink | None = None
    """The pod's link as it was found, if the plan moves it."""


class Teardown(msgspec.Struct, frozen=True, kw_only=True):
    """The way back, in the order of its fields. What is gone already is no error."""

    ruleset: Transaction | None = None
    deleted: tuple[str, ...] = ()
    """Links to delete by name."""
    moved: MovedLink | None = None
    """Take it from the bridge and give it the name, MAC, addresses and routes of `restores`."""
    restores: PodLink | None = None


def undo(plan: InterfacePlan) -> Teardown:
    ours = [link.name for link in plan.links if isinstance(link, Tap | Dummy | Bridge)]
    moved = next((link for link in plan.links if isinstance(link, MovedLink)), None)
    return Teardown(
        ruleset=plan.undo_ruleset,
        deleted=tuple(reversed(ours)),
        moved=moved,
        restores=plan.restores if moved else None,
    )
