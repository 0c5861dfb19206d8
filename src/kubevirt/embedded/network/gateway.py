"""The machine's side of the pods' network: an address for pods to send everything to, and the way out.

    await machine.run(lambda: gateway.make(settings))     # nothing to do the second time
    await machine.run(lambda: gateway.take_away(settings))

The address is on a link of its own, with nothing behind it: cables come and go, and it stays.

Of the machine itself one thing is changed, told and undone: links by which it reaches anything must let
answers through, so their forwarding is switched on, each by itself, where it is off. The switch for the whole
machine is not touched.
"""

from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from typing import Final

import msgspec

from kubevirt.base.errors import ConfigError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.host.net import table
from kubevirt.host.net.home import LINK_PREFIX as GUEST_LINK_PREFIX
from kubevirt.host.net.journal import Journal
from kubevirt.host.net.kernel import Kernel, Seen
from kubevirt.virt.network.facts import Route

log = get_logger(__name__)

LINK_PREFIX: Final = "kvp"
"""Of the links of all homes."""
USUAL_MTU: Final = 1500
FORWARDERS: Final = "forwarders.json"
_LIMIT: Final = 65536
_MACHINES_FORWARDING: Final = "net/ipv4/ip_forward"
"""Once it is on, the switches of links are no business of ours."""


class NameTaken(ConfigError):  # noqa: N818  # it is what the name is
    """Somebody else has a link by the name that ours should have."""

    def __init__(self, link: Seen) -> None:
        what = f"a {link.kind}" if link.kind else "a network card"
        super().__init__(
            f"the network of pods needs a link {link.name}, but there is {what} by that name which is not ours; "
            f"rename it or remove it with: ip link delete {link.name}",
            reason="NameTaken",
        )


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """The machine's network, as it was found. To read all of it costs something, so it is done once."""

    links: Mapping[str, Seen]
    routes: frozenset[tuple[str, int]]
    """Destinations, each with the number of its link."""

    @property
    def uplinks(self) -> tuple[Seen, ...]:
        """Links by which the machine reaches anything; answers come in by them."""
        used = {index for destination, index in self.routes if ":" not in destination}
        others = ("lo", LINK_PREFIX, GUEST_LINK_PREFIX)
        return tuple(
            link
            for link in self.links.values()
            if link.index in used and not link.name.startswith(others)
        )

    @property
    def mtu(self) -> int:
        return min((link.mtu for link in self.uplinks), default=USUAL_MTU)


def make(settings: NetworkSettings, journal: Journal | None = None) -> Look:
    """In a thread of the machine's namespace. What is as it should be is not touched."""
    with Kernel(journal) as kernel:
        found = Look(
            links={each.name: each for each in kernel.links()},
            routes=frozenset(kernel.route_destinations()),
        )
        link = _link(kernel, settings, found.links.get(settings.gateway_link))
        if not link.is_up:
            kernel.set_up(link)
        # So that the machine itself has an address to ask Services from, and asks nobody outside.
        if (settings.services, link.index) not in found.routes:
            kernel.add_route(link, Route(destination=settings.services, gateway=None))
        _let_through(kernel, settings, found)
        if kernel.journal.changes:
            log.info("the gateway was made or mended", changes=kernel.journal.changes[:20])
        return found


def take_away(settings: NetworkSettings) -> None:
    """All of it, in the order in which nothing is open to strangers meanwhile."""
    with Kernel() as kernel:
        for link in kernel.links():
            if link.name.startswith(settings.link_prefix):
                kernel.delete(link)
        found = kernel.find(settings.gateway_link)
        if found is not None and _is_ours(found, settings):
            kernel.delete(found)
        table.unload(settings.table)
        _stop_letting_through(kernel, settings)


def _link(kernel: Kernel, settings: NetworkSettings, found: Seen | None) -> Seen:
    if found is not None and not _is_ours(found, settings):
        raise NameTaken(found)
    if found is None:
        found = kernel.add_dummy(settings.gateway_link, mac=settings.gateway_mac)
    address = ip_interface(f"{settings.gateway}/{settings.pod_range.prefixlen}")
    if address not in kernel.addresses(found):
        kernel.add_address(found, address)
    return found


def _is_ours(link: Seen, settings: NetworkSettings) -> bool:
    """Where the kernel has no dummies, it is a bridge with nothing on it."""
    return link.kind in ("dummy", "bridge") and link.mac == settings.gateway_mac


def _let_through(kernel: Kernel, settings: NetworkSettings, found: Look) -> None:
    """What another home has switched on is ours, too: the last one switches it off."""
    uplinks = [link.name for link in found.uplinks]
    off = [name for name in uplinks if kernel.setting(_forwarding(name)) == "0"]
    shared = [name for name in uplinks if name not in off] if _others(found, settings) else []
    known = _read(settings)
    if (off or {*shared} - {*known}) and kernel.setting(_MACHINES_FORWARDING) == "0":
        # Before it is done: a crash forgets nothing.
        _write(settings, sorted({*known, *off, *shared}))
    for name in off:
        kernel.set_setting(_forwarding(name), "1")


def _others(found: Look, settings: NetworkSettings) -> bool:
    """Whether there are other homes on this machine."""
    own = (settings.link_prefix, settings.gateway_link)
    return any(
        name.startswith((LINK_PREFIX, GUEST_LINK_PREFIX)) and not name.startswith(own)
        for name in found.links
    )


def _stop_letting_through(kernel: Kernel, settings: NetworkSettings) -> None:
    """Unless somebody else needs it by now: another home, or the whole machine."""
    found = Look(links={each.name: each for each in kernel.links()}, routes=frozenset())
    if not _others(found, settings) and kernel.setting(_MACHINES_FORWARDING) == "0":
        for name in _read(settings):
            if kernel.setting(_forwarding(name)) == "1":
                kernel.set_setting(_forwarding(name), "0")
    with Root.open(settings.folder) as root:
        root.unlink(FORWARDERS, missing_ok=True)


def _read(settings: NetworkSettings) -> list[str]:
    with Root.open(settings.folder) as root:
        try:
            return msgspec.json.decode(root.read(FORWARDERS, limit=_LIMIT), type=list[str])
        except (FileNotFoundError, msgspec.DecodeError):
            return []


def _write(settings: NetworkSettings, names: Sequence[str]) -> None:
    with Root.open(settings.folder) as root:
        root.write(FORWARDERS, msgspec.json.encode(names))


def _forwarding(link: str) -> str:
    return f"net/ipv4/conf/{link}/forwarding"
