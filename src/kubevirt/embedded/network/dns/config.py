"""dnsmasq's configuration for the names of a cluster. Pure.

Its files are lines of comma-separated words: names and addresses that come here were checked where the
records were made.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.embedded.network.dns.records import Records

TTL_S: Final = 5
"""As CoreDNS has it: names follow their Services within seconds."""
CACHED: Final = 1000
VERSION: Final = "1.1.0"
"""Of the specification."""


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    address: IPv4Address
    port: int
    domain: str
    reverse: tuple[IPv4Network, ...]
    """Ranges whose names nobody else is asked for."""
    resolver_file: Path
    """Who is asked for everything else. dnsmasq notices when it changes."""


def text(listening: Listening, records: Records) -> str:
    return "".join(f"{line}\n" for line in _lines(listening, records))


def _lines(listening: Listening, records: Records) -> Iterator[str]:
    yield f"listen-address={listening.address}"
    yield f"port={listening.port}"
    yield "bind-interfaces"
    yield "no-hosts"
    yield f"resolv-file={listening.resolver_file}"
    yield f"cache-size={CACHED}"
    yield f"local-ttl={TTL_S}"
    yield "dns-loop-detect"
    yield f"local=/{listening.domain}/"
    for network in listening.reverse:
        for zone in reverse_zones(network):
            yield f"local=/{zone}/"
    yield f"txt-record=dns-version.{listening.domain},{VERSION}"
    for name, address in records.addresses:
        yield f"host-record={name},{address}"
    for name, target in records.aliases:
        yield f"cname={name},{target}"
    weight = {port.name: 0 for port in records.ports}
    for port in records.ports:
        weight[port.name] += 1
    for port in records.ports:
        # Alike for all that share the name, as in the specification: 100 between them.
        share = max(100 // weight[port.name], 1)
        yield f"srv-host={port.name},{port.target},{port.port},0,{share}"


def reverse_zones(network: IPv4Network) -> Iterator[str]:
    """Zones end between bytes, so a network is one of them or several."""
    length = max(8, -(-network.prefixlen // 8) * 8)
    for each in network.subnets(new_prefix=length):
        digits = str(each.network_address).split(".")[: length // 8]
        yield f"{'.'.join(reversed(digits))}.in-addr.arpa"
