"""The bridge binding: the guest takes the pod's place on the network, MAC and address included."""

from ipaddress import IPv4Interface, ip_network

from kubevirt.api.interfaces import Interface, Network
from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.errors import shown
from kubevirt.virt.network import names
from kubevirt.virt.network.addresses import derived_mac, global_ipv4, guest_mac, ipv4_only
from kubevirt.virt.network.dhcp import DhcpServer, V4Lease
from kubevirt.virt.network.facts import PodFacts, PodLink, Route
from kubevirt.virt.network.guest import NetworkGuest
from kubevirt.virt.network.links import Bridge, Dummy, MovedLink, Sysctl, Tap
from kubevirt.virt.network.plan import InterfacePlan

SERVER_BASE = 10
"""The DHCP server's address is 169.254.75.10 for the first interface, .11 for the second, …"""


def bridge_plan(
    guest: NetworkGuest, interface: Interface, network: Network, pod: PodFacts, link: PodLink
) -> InterfacePlan:
    bridge, queues = names.bridge(link.name), guest.queues(interface)
    address = global_ipv4(link.addresses)
    server = f"169.254.75.{SERVER_BASE + guest.index_of(interface)}"
    mac = guest_mac(interface.mac_address or link.mac, f"interface {shown(interface.name)}")
    # The pod's link gives its MAC to the guest, so it needs another.
    other_mac = derived_mac(guest.uid, interface.name, "link")
    tap = Tap(name=names.tap(network), bridge=bridge, mtu=link.mtu, queues=queues, owner=pod.owner)
    return InterfacePlan(
        interface=interface.name,
        links=(
            Bridge(
                name=bridge,
                mac=other_mac,
                mtu=link.mtu,
                addresses=(f"{server}/32",) if address else (),
            ),
            MovedLink(
                original=names.checked_link(link.name),
                name=names.moved_link(link.name),
                bridge=bridge,
                mac=other_mac,
            ),
            tap,
            Dummy(name=link.name, mac=link.mac, mtu=link.mtu, addresses=link.addresses),
        ),
        # Only the guest answers for the address that the dummy bears.
        sysctls=(Sysctl(key="net/ipv4/conf/all/arp_ignore", value="1"),) if address else (),
        dhcp=_dhcp(guest, interface, pod, link, mac, server, address) if address else None,
        card=InterfaceFacts(tap=tap.name, mac=mac, mtu=link.mtu, vhost=pod.vhost_net),
        queues=queues,
        restores=link,
    )


def _dhcp(
    guest: NetworkGuest,
    interface: Interface,
    pod: PodFacts,
    link: PodLink,
    mac: str,
    server: str,
    address: IPv4Interface,
) -> DhcpServer:
    """Without an address on the link nobody hands one out: the network has a server of its own."""
    routes = [route for route in link.routes if ip_network(route.destination).version == 4]
    default = next((route for route in routes if _is_default(route)), None)
    others = tuple(
        route for route in routes if not _is_default(route) and not _is_own(route, address)
    )
    # A client that takes classless routes ignores the router, so the default stands in both.
    classless = (*others, default) if others and default else others
    return guest.dhcp_server(
        interface,
        pod,
        link=names.bridge(link.name),
        mac=mac,
        mtu=link.mtu,
        v4=V4Lease(
            address=str(address.ip),
            prefix_length=address.network.prefixlen,
            server=server,
            router=default.gateway if default else None,
            routes=classless,
            nameservers=tuple(map(str, ipv4_only(pod.nameservers))),
            is_foreign=True,
        ),
    )


def _is_default(route: Route) -> bool:
    return ip_network(route.destination).prefixlen == 0


def _is_own(route: Route, address: IPv4Interface) -> bool:
    return route.gateway is None and ip_network(route.destination) == address.network
