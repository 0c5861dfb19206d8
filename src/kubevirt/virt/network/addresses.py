"""Addresses: parsing what comes from outside, and the little network between pod and guest."""

import hashlib
import re
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Final

from kubevirt.virt.errors import SpecError, shown

DEFAULT_IPV4: Final = "10.0.2.0/24"
DEFAULT_IPV6: Final = "fd10:0:2::/120"
BRIDGE_MAC: Final = "02:00:00:00:00:00"
"""Of the bridge between pod and guest; the same in each pod, so that a migrated guest keeps its
neighbour.
"""
_MAC: Final = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")


@dataclass(frozen=True, slots=True)
class Subnet:
    """The little network between pod and guest: its first two hosts are the gateway and the guest."""

    gateway: IPv4Address | IPv6Address
    guest: IPv4Address | IPv6Address
    prefix_length: int

    @property
    def family(self) -> str:
        """As nftables calls it."""
        return "ip" if self.gateway.version == 4 else "ip6"

    @property
    def gateway_with_prefix(self) -> str:
        return f"{self.gateway}/{self.prefix_length}"


def ipv4_subnet(cidr: str | None) -> Subnet:
    network = _range(cidr or DEFAULT_IPV4)
    if not isinstance(network, IPv4Network):
        raise SpecError(
            f"vmNetworkCIDR {shown(cidr)} is not an IPv4 range; use one like {DEFAULT_IPV4}"
        )
    return Subnet(network[1], network[2], network.prefixlen)


def ipv6_subnet(cidr: str | None) -> Subnet:
    network = _range(cidr or DEFAULT_IPV6)
    if not isinstance(network, IPv6Network):
        raise SpecError(
            f"vmIPv6NetworkCIDR {shown(cidr)} is not an IPv6 range; use one like {DEFAULT_IPV6}"
        )
    return Subnet(network[1], network[2], network.prefixlen)


def _range(cidr: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(cidr, strict=False)
    except ValueError:
        raise SpecError(
            f"failed to parse VM CIDR: {shown(cidr)}; one looks like 10.0.2.0/24"
        ) from None
    if network.prefixlen > network.max_prefixlen - 2:
        raise SpecError(
            f"VM CIDR subnet is too small, at least 2 host addresses are required: {shown(cidr)}"
        )
    return network


def global_ipv4(addresses: tuple[str, ...]) -> IPv4Interface | None:
    """The first IPv4 address that reaches beyond the link."""
    found = (ip_interface(address) for address in addresses)
    return next(
        (each for each in found if isinstance(each, IPv4Interface) and _reaches_far(each.ip)), None
    )


def global_ipv6(addresses: tuple[str, ...]) -> IPv6Interface | None:
    found = (ip_interface(address) for address in addresses)
    return next(
        (each for each in found if isinstance(each, IPv6Interface) and _reaches_far(each.ip)), None
    )


def _reaches_far(address: IPv4Address | IPv6Address) -> bool:
    return not (
        address.is_link_local
        or address.is_loopback
        or address.is_multicast
        or address.is_unspecified
    )


def ipv4_only(addresses: tuple[str, ...]) -> tuple[IPv4Address, ...]:
    found = (ip_address(address) for address in addresses)
    return tuple(each for each in found if isinstance(each, IPv4Address))


def ipv6_only(addresses: tuple[str, ...]) -> tuple[IPv6Address, ...]:
    found = (ip_address(address) for address in addresses)
    return tuple(each for each in found if isinstance(each, IPv6Address))


def guest_mac(text: str, thing: str) -> str:
    """A MAC address in one spelling, if a guest may have it."""
    mac = text.replace("-", ":").lower()
    if not _MAC.fullmatch(mac):
        raise SpecError(
            f"{thing} has the MAC address {shown(text)}; one looks like 02:00:5e:10:00:01"
        )
    if mac == BRIDGE_MAC:
        raise SpecError(
            f"{thing}: The requested MAC address is reserved for the in-pod bridge. "
            f"Please choose another one."
        )
    if int(mac[1], 16) & 1:
        raise SpecError(f"{thing} has the MAC address {mac}, which addresses a group of machines")
    return mac


def derived_mac(*parts: str) -> str:
    """A local MAC address that follows from an identity: stable, and as good as unique."""
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (0x02, *digest[:5]))
