"""A pod's network namespace, and the cable from it to the machine.

The namespace is bound to a file: it outlives us, and every container of the pod finds it there. Nothing else
of it is on the machine but the other end of its cable, with a route to the pod's address.

The pod believes that all pods are on one link; in truth whatever it sends comes to the machine, which
answers for everybody (proxy ARP) and carries it on. So every packet meets the rules, both ways.

All of this runs in a thread of the machine's namespace.
"""

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from ipaddress import IPv4Address, ip_interface
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.embedded.network.settings import NetworkSettings, mac_of
from kubevirt.host.net import netns
from kubevirt.host.net.errors import NamespaceGone, NetworkFailed
from kubevirt.host.net.kernel import Kernel, Seen
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.network.facts import Route
from kubevirt.virt.network.names import PRIMARY_LINK

USUAL_SWITCHES: Final[Mapping[str, str]] = {
    # What needs no privilege in a container: its own low ports, and asking who is there.
    "net/ipv4/ip_unprivileged_port_start": "0",
    "net/ipv4/ping_group_range": "0 2147483647",
}


class Cable(msgspec.Struct, frozen=True, kw_only=True):
    link: str
    """The machine's end."""
    path: Path
    """What the namespace is bound to."""
    address: IPv4Address
    switches: Mapping[str, str]
    """Settings of the namespace, by their paths below /proc/sys."""


def lay(settings: NetworkSettings, cable: Cable, mtu: int) -> None:
    """Any number of times, also after a crash at any step: what is there stays, what is missing is made."""
    inside, is_new = _namespace(cable)
    with inside, Kernel() as kernel:
        link = kernel.find(cable.link)
        if link is not None and is_new:
            kernel.delete(link)  # its other end is in a namespace that nobody finds any more
            link = None
        if link is None:
            link = kernel.add_veth(
                cable.link,
                peer=PRIMARY_LINK,
                peer_namespace=inside.fd,
                peer_mac=mac_of(cable.address),
                mtu=mtu,
            )
        for key, value in _switches(cable.link):
            if kernel.setting(key) != value:
                kernel.set_setting(key, value)
        if not link.is_up:
            kernel.set_up(link)
        # Not looked for: with many pods that would cost more than to say it again.
        route = Route(destination=f"{cable.address}/32", gateway=None)
        kernel.add_route(link, route, source=str(settings.gateway))
        inside.call(lambda: _furnish(settings, cable))


def _switches(link: str) -> Iterator[tuple[str, str]]:
    yield f"net/ipv4/conf/{link}/forwarding", "1"
    # Whomever the pod asks for, we answer, and at once: all it sends goes through the machine.
    yield f"net/ipv4/conf/{link}/proxy_arp", "1"
    yield f"net/ipv4/neigh/{link}/proxy_delay", "0"
    # From here come packets of this pod, and of nobody else.
    yield f"net/ipv4/conf/{link}/rp_filter", "1"


def is_laid(links: Mapping[str, Seen], routes: Container[tuple[str, int]], cable: Cable) -> bool:
    """As far as the machine's side tells: what is in a pod is the pod's own."""
    link = links.get(cable.link)
    return link is not None and link.is_up and (f"{cable.address}/32", link.index) in routes


def remove(link: str, path: Path) -> None:
    with Kernel() as kernel:
        if (found := kernel.find(link)) is not None:
            with suppress(NetworkFailed):  # it went with its namespace just now
                kernel.delete(found)
    netns.remove(path)


def _namespace(cable: Cable) -> tuple[Namespace, bool]:
    """With whether it was made now."""
    try:
        return Namespace.at(cable.path), False
    except (NamespaceGone, NetworkFailed):
        # None yet, or a file that was one before the machine was started anew.
        netns.remove(cable.path)
    made = Namespace.new(f"network namespace {cable.path}")
    try:
        made.keep(cable.path)
    except BaseException:
        made.close()
        raise
    return made, True


def _furnish(settings: NetworkSettings, cable: Cable) -> None:
    """The inside. The route is the last of it: with it, all is done, and what is changed afterwards is
    somebody's who arranged it so. A link by that name of another kind is none of ours.
    """
    with Kernel() as kernel:
        link = kernel.find(PRIMARY_LINK)
        if link is None or link.kind != "veth":
            return
        way_out = Route(destination="0.0.0.0/0", gateway=str(settings.gateway))
        if way_out in kernel.routes(link):
            return
        kernel.set_up(kernel.need("lo"))
        for key, value in cable.switches.items():
            kernel.set_setting(key, value)
        kernel.add_address(link, ip_interface(f"{cable.address}/{settings.pod_range.prefixlen}"))
        kernel.set_up(link)
        kernel.add_route(link, way_out)
