"""The masquerade binding: the guest in a network of its own behind the pod's address."""

from collections.abc import Sequence
from typing import Final

from kubevirt.api.interfaces import Interface, Network, Port, PortRange
from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.errors import SpecError, shown
from kubevirt.virt.network import names, nftables
from kubevirt.virt.network.addresses import (
    BRIDGE_MAC,
    Subnet,
    derived_mac,
    global_ipv4,
    global_ipv6,
    guest_mac,
    ipv4_only,
    ipv4_subnet,
    ipv6_only,
    ipv6_subnet,
)
from kubevirt.virt.network.dhcp import DhcpServer, V4Lease, V6Lease
from kubevirt.virt.network.facts import PodFacts, PodLink
from kubevirt.virt.network.guest import NetworkGuest
from kubevirt.virt.network.links import Bridge, Sysctl, Tap
from kubevirt.virt.network.plan import InterfacePlan

PROTOCOLS: Final = ("tcp", "udp")
ISTIO_LOOPBACK: Final = "127.0.0.6"
ISTIO_PORTS: Final = (15000, 15001, 15004, 15006, 15008, 15009, 15020, 15021, 15053, 15090)
"""Of the proxy itself; they are not the guest's."""
ISTIO_UNPROXIED: Final = (22,)
"""The proxy does not take them, so they go to the guest directly."""

PortSet = int | tuple[int, int]


def masquerade_plan(
    guest: NetworkGuest, interface: Interface, network: Network, pod: PodFacts, link: PodLink
) -> InterfacePlan:
    if network.pod is None:
        raise SpecError(
            f"interface {shown(interface.name)}: Masquerade interface only implemented with pod "
            f"network"
        )
    v4 = ipv4_subnet(network.pod.vm_network_cidr) if global_ipv4(link.addresses) else None
    v6 = ipv6_subnet(network.pod.vm_i_pv6_network_cidr) if global_ipv6(link.addresses) else None
    if v4 is None and v6 is None:
        raise SpecError(
            f"the pod's link {link.name} has no address to hide the guest behind; "
            f"check the cluster's CNI plugin"
        )
    bridge, queues = names.bridge(link.name), guest.queues(interface)
    mac = (
        guest_mac(interface.mac_address, f"interface {shown(interface.name)}")
        if interface.mac_address
        else derived_mac(guest.identity, interface.name)
    )
    tap = Tap(name=names.tap(network), bridge=bridge, mtu=link.mtu, queues=queues, owner=pod.owner)
    subnets = [subnet for subnet in (v4, v6) if subnet is not None]
    return InterfacePlan(
        interface=interface.name,
        links=(
            Bridge(
                name=bridge,
                mac=BRIDGE_MAC,
                mtu=link.mtu,
                addresses=tuple(subnet.gateway_with_prefix for subnet in subnets),
            ),
            tap,
        ),
        sysctls=_sysctls(bridge, v4=v4 is not None, v6=v6 is not None),
        ruleset=_ruleset(interface, pod, link, bridge, subnets),
        dhcp=_dhcp(guest, interface, pod, link, mac, v4, v6),
        card=InterfaceFacts(tap=tap.name, mac=mac, mtu=link.mtu, vhost=pod.vhost_net),
        queues=queues,
        undo_ruleset=nftables.transaction(
            command
            for subnet in subnets
            for command in nftables.without_nat_table(subnet.family, is_shared=pod.istio)
        ),
    )


def _sysctls(bridge: str, *, v4: bool, v6: bool) -> tuple[Sysctl, ...]:
    settings = []
    if v4:
        settings.append(Sysctl(key="net/ipv4/ip_forward", value="1"))
        # What comes from the pod's own loopback is sent on to the guest.
        settings.append(Sysctl(key=f"net/ipv4/conf/{bridge}/route_localnet", value="1"))
    if v6:
        settings.append(Sysctl(key="net/ipv6/conf/all/forwarding", value="1"))
    return tuple(settings)


def _dhcp(
    guest: NetworkGuest,
    interface: Interface,
    pod: PodFacts,
    link: PodLink,
    mac: str,
    v4: Subnet | None,
    v6: Subnet | None,
) -> DhcpServer:
    v4_lease = v6_lease = None
    if v4:
        v4_lease = V4Lease(
            address=str(v4.guest),
            prefix_length=v4.prefix_length,
            server=str(v4.gateway),
            router=str(v4.gateway),
            nameservers=tuple(map(str, ipv4_only(pod.nameservers))),
        )
    if v6:
        v6_lease = V6Lease(
            address=str(v6.guest),
            prefix_length=v6.prefix_length,
            nameservers=tuple(map(str, ipv6_only(pod.nameservers))),
        )
    bridge = names.bridge(link.name)
    return guest.dhcp_server(
        interface, pod, link=bridge, mac=mac, mtu=link.mtu, v4=v4_lease, v6=v6_lease
    )


def _ruleset(
    interface: Interface, pod: PodFacts, link: PodLink, bridge: str, subnets: Sequence[Subnet]
) -> nftables.Json:
    commands: list[nftables.Json] = []
    for subnet in subnets:
        commands += nftables.nat_table(subnet.family)
        commands += _nat(interface, pod, link, bridge, subnet)
    return nftables.transaction(commands)


def _nat(
    interface: Interface, pod: PodFacts, link: PodLink, bridge: str, subnet: Subnet
) -> list[nftables.Json]:
    family, guest = subnet.family, str(subnet.guest)
    out = nftables.rule(
        family, nftables.POSTROUTING, nftables.source(family, [guest]), nftables.masquerade()
    )
    inbound = nftables.rule(
        family,
        nftables.PREROUTING,
        nftables.from_link(names.checked_link(link.name)),
        nftables.jump(nftables.PREINBOUND),
    )
    to_guest = nftables.rule(
        family,
        nftables.POSTROUTING,
        nftables.to_link(bridge),
        nftables.jump(nftables.POSTINBOUND),
    )
    rules = [out, inbound, to_guest]
    if pod.istio and not _ports(interface):
        rules += _istio_passes(family)
    for matches in _wanted(interface):
        rules += _forwarding(pod, link, subnet, matches)
    return rules


def _wanted(interface: Interface) -> list[tuple[str, PortSet] | None]:
    """Each port with its protocol; None stands for everything."""
    return list(_ports(interface)) or [None]


def _ports(interface: Interface) -> list[tuple[str, PortSet]]:
    if interface.ports and interface.port_ranges:
        raise SpecError(
            f"interface {shown(interface.name)} has both ports and portRanges; keep one of them"
        )
    return [
        *(_port(port) for port in interface.ports),
        *(_port_range(each) for each in interface.port_ranges),
    ]


def _port(port: Port) -> tuple[str, PortSet]:
    return _protocol(port.protocol), _checked_port(port.port)


def _port_range(ports: PortRange) -> tuple[str, PortSet]:
    start, end = _checked_port(ports.start), _checked_port(ports.end)
    if end < start:
        raise SpecError(f"the port range {start} to {end} ends before it starts")
    return _protocol(ports.protocol), (start, end)


def _protocol(text: str | None) -> str:
    protocol = (text or "TCP").lower()
    if protocol not in PROTOCOLS:
        raise SpecError(f"Unknown protocol, only TCP or UDP allowed, not {shown(text)}")
    return protocol


def _checked_port(port: int) -> int:
    if not 0 < port < 65536:
        raise SpecError(f"Port field must be in range 0 < x < 65536, not {port}.")
    return port


def _istio_passes(family: str) -> list[nftables.Json]:
    """The proxy's own ports stay in the pod."""
    loopback = nftables.source(family, [_loopback(family)])
    ports = nftables.destination_ports("tcp", ISTIO_PORTS)
    return [
        nftables.rule(family, chain, ports, loopback, nftables.leave())
        for chain in (nftables.OUTPUT, nftables.POSTINBOUND)
    ]


def _forwarding(
    pod: PodFacts, link: PodLink, subnet: Subnet, wanted: tuple[str, PortSet] | None
) -> list[nftables.Json]:
    """Towards the guest: from outside, and from the pod itself by its loopback address."""
    family, guest, gateway = subnet.family, str(subnet.guest), str(subnet.gateway)
    loopback = _loopback(family)
    port = [nftables.destination_ports(wanted[0], [wanted[1]])] if wanted else []
    senders, receivers = [loopback], [loopback]
    if pod.istio and family == "ip":
        own = global_ipv4(link.addresses)
        senders.append(ISTIO_LOOPBACK)
        receivers += [str(own.ip)] if own else []
    rules = []
    if (inbound := _inbound(wanted, port, istio=pod.istio)) is not None:
        rules.append(
            nftables.rule(
                family,
                nftables.PREINBOUND,
                *inbound,
                nftables.translate_destination(guest),
            )
        )
    rules.append(
        nftables.rule(
            family,
            nftables.POSTINBOUND,
            *port,
            nftables.source(family, senders),
            nftables.translate_source(gateway),
        )
    )
    rules.append(
        nftables.rule(
            family,
            nftables.OUTPUT,
            nftables.destination(family, receivers),
            *port,
            nftables.translate_destination(guest),
        )
    )
    return rules


def _inbound(
    wanted: tuple[str, PortSet] | None, port: list[nftables.Json], *, istio: bool
) -> list[nftables.Json] | None:
    """What is sent on as it comes in; with a mesh only what its proxy leaves alone."""
    if not istio:
        return port
    if wanted is None:
        return [nftables.destination_ports("tcp", ISTIO_UNPROXIED)]
    return port if wanted in [("tcp", each) for each in ISTIO_UNPROXIED] else None


def _loopback(family: str) -> str:
    return "127.0.0.1" if family == "ip" else "::1"
