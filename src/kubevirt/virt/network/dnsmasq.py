"""dnsmasq's configuration for one guest.

Its files are lines of comma-separated words, and long lines are cut and read on as new ones. So
addresses and names are parsed and checked, and free text is written as hexadecimal bytes. Two
options, the TFTP server and the boot file, dnsmasq takes as text only: they are quoted, and limited
to printable ASCII. No line comes near the limit.
"""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_network
from typing import Final

from kubevirt.virt.errors import SpecError, shown
from kubevirt.virt.network.dhcp import (
    BOOT_FILE,
    LEASE_S,
    TFTP_SERVER,
    DhcpServer,
    RawOption,
    V4Lease,
    V6Lease,
)
from kubevirt.virt.network.names import checked_link

LINE_LIMIT: Final = 1000
"""dnsmasq reads 1024 characters and takes the rest for another line."""
SEARCH_LIMIT: Final = 255

_MAC: Final = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST: Final = re.compile(_LABEL)
# The last label begins with a letter; else dnsmasq might take the whole for an address.
_DOMAIN: Final = re.compile(rf"(?:{_LABEL}\.)*[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?")

_TEXT_ONLY: Final = frozenset({TFTP_SERVER, BOOT_FILE})

_PREAMBLE: Final = (
    "# One guest's DHCP server. Free text stands here as hexadecimal bytes, or quoted.",
    "port=0",
    "no-resolv",
    "no-hosts",
    "no-ping",
    "leasefile-ro",
    "dhcp-authoritative",
    "dhcp-ignore=tag:!known",
    "except-interface=lo",
    "bind-dynamic",
)


def config(server: DhcpServer) -> str:
    """The whole file. Whoever starts dnsmasq adds only what belongs to the process."""
    lines = [*_PREAMBLE, f"interface={checked_link(server.link)}", _host(server)]
    if server.v4:
        lines += _v4(server, server.v4)
    if server.v6:
        lines += _v6(server, server.v6)
    too_long = next((line for line in lines if len(line) > LINE_LIMIT), None)
    if too_long:
        name = too_long.partition("=")[0]
        raise SpecError(f"the DHCP server's {name} would have {len(too_long)} characters; too many")
    return "".join(f"{line}\n" for line in lines)


def _host(server: DhcpServer) -> str:
    if not _MAC.fullmatch(server.mac):
        raise SpecError(f"{shown(server.mac)} is no MAC address")
    words = [server.mac]
    if server.v4:
        words.append(str(IPv4Address(server.v4.address)))
    if server.v6:
        words.append(f"[{IPv6Address(server.v6.address)}]")
    name = server.hostname.lower()
    if not _HOST.fullmatch(name):
        raise SpecError(
            f"the host name {shown(server.hostname)} is no DNS label; set spec.hostname to one"
        )
    return f"dhcp-host={','.join((*words, name, str(LEASE_S)))}"


def _v4(server: DhcpServer, lease: V4Lease) -> list[str]:
    address = IPv4Address(lease.address)
    network = IPv4Network(f"{address}/{lease.prefix_length}", strict=False)
    lines = [f"dhcp-range={address},static,{network.netmask},{LEASE_S}"]
    if lease.is_foreign:
        lines.append(f"shared-network={IPv4Address(lease.server)},{address}")
    # Without a value the option is left out: dnsmasq would name itself as router.
    lines.append(f"dhcp-option=3,{IPv4Address(lease.router)}" if lease.router else "dhcp-option=3")
    lines.append(_option(26, str(int(server.mtu))))
    if lease.nameservers:
        lines.append(_option(6, *map(_ipv4, lease.nameservers)))
    if lease.routes:
        lines.append(_option(121, *_classless(lease)))
    if server.search:
        lines.append(_option(119, *map(_domain, _fitting(server.search))))
    if server.domain:
        lines.append(_option(15, _domain(server.domain)))
    if server.ntp_servers:
        lines.append(_option(42, *map(_ipv4, server.ntp_servers)))
    return [*lines, *map(_raw, server.options)]


def _v6(server: DhcpServer, lease: V6Lease) -> list[str]:
    address = IPv6Address(lease.address)
    lines = [
        "enable-ra",
        f"dhcp-range={address},static,{int(lease.prefix_length)},{LEASE_S}",
        f"ra-param={checked_link(server.link)},mtu:{int(server.mtu)},high,60",
    ]
    if lease.nameservers:
        servers = ",".join(f"[{IPv6Address(each)}]" for each in lease.nameservers)
        lines.append(f"dhcp-option=option6:dns-server,{servers}")
    if server.search:
        domains = ",".join(map(_domain, _fitting(server.search)))
        lines.append(f"dhcp-option=option6:domain-search,{domains}")
    return lines


def _option(code: int, *words: str) -> str:
    """Forced: sent also to a client that did not ask."""
    return f"dhcp-option-force={code},{','.join(words)}"


def _raw(option: RawOption) -> str:
    """Bytes with colons between; a single one as a number, since it would have no colon."""
    code, value = int(option.code), option.value
    if code in _TEXT_ONLY:
        return _option(code, _quoted(code, value))
    return _option(code, str(value[0]) if len(value) == 1 else value.hex(":"))


def _quoted(code: int, value: bytes) -> str:
    """Inside quotes dnsmasq knows two special characters, and a backslash takes that from them."""
    if not all(0x20 <= byte < 0x7F for byte in value):
        raise SpecError(
            f"the value of DHCP option {code} holds a character that is not printable ASCII; "
            f"remove it"
        )
    text = value.decode("ascii").replace("\\", r"\\").replace('"', r"\"")
    return f'"{text}"'


def _ipv4(text: str) -> str:
    return str(IPv4Address(text))


def _classless(lease: V4Lease) -> list[str]:
    words = []
    for route in lease.routes:
        gateway = IPv4Address(route.gateway) if route.gateway else IPv4Address(0)
        words += [str(ip_network(route.destination)), str(gateway)]
    return words


def _fitting(domains: tuple[str, ...]) -> tuple[str, ...]:
    """As many as one option holds, in the pod's order: each takes a byte per label and one more."""
    fitting: list[str] = []
    size = 0
    for domain in domains:
        size += len(domain) + 2
        if size > SEARCH_LIMIT:
            break
        fitting.append(domain)
    return tuple(fitting)


def _domain(text: str) -> str:
    name = text.rstrip(".").lower()
    if len(name) > 253 or not _DOMAIN.fullmatch(name):
        raise SpecError(f"Search domain is not valid: {shown(text)}")
    return name
