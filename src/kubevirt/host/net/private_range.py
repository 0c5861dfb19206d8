"""A small private network that collides with nothing the machine can reach."""

import hashlib
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

from kubevirt.host.net.errors import NetworkFailed

Network = IPv4Network | IPv6Network

POOLS: Final = tuple(map(IPv4Network, ("172.16.0.0/12", "192.168.0.0/16", "10.0.0.0/8")))
"""Private ranges, the least used first."""
PREFIX_LENGTH: Final = 30
"""Four addresses: one for either end, one for all, one for none."""
TRIES: Final = 512
"""In each range. A machine that has taken them all has taken the range."""


def free_ipv4(taken: Iterable[str], seed: str) -> IPv4Network:
    """The same for the same seed and machine, so that many homes at once spread out."""
    others = _networks(taken)
    for pool in POOLS:
        size = 1 << (32 - PREFIX_LENGTH)
        places = pool.num_addresses // size
        for each in range(TRIES):
            place = _number(seed, each) % places
            candidate = IPv4Network((int(pool.network_address) + place * size, PREFIX_LENGTH))
            if not any(candidate.overlaps(other) for other in others):
                return candidate
    raise NetworkFailed(
        f"no private network is free on this machine: its routes take {', '.join(map(str, POOLS))}"
    )


def unique_ipv6(seed: str) -> IPv6Network:
    """A unique local network (RFC 4193): forty bits of chance need no looking around."""
    prefix = 0xFD << 120 | (_number(seed, 0) & (1 << 40) - 1) << 80
    return IPv6Network((prefix, 126))


def _networks(texts: Iterable[str]) -> Sequence[IPv4Network]:
    """Without default routes, which lead everywhere and take nothing."""
    found = (ip_network(text, strict=False) for text in texts)
    return [each for each in found if isinstance(each, IPv4Network) and each.prefixlen]


def _number(seed: str, each: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{each}".encode()).digest()[:8])
