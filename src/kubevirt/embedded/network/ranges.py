"""Private ranges for pods and services that collide with nothing this machine reaches."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, ip_network
from typing import Final, NamedTuple

from kubevirt.base.errors import ConfigError
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace

PODS: Final = "10.244.0.0/16"
SERVICES: Final = "10.96.0.0/16"
_OTHERS: Final = ("10.64.0.0/10", "10.128.0.0/9", "172.16.0.0/12", "10.0.0.0/10", "192.168.0.0/16")
"""Where to look for others, the least used first."""
_LEAST: Final = 20
"""Prefix length of the smallest range that is any good."""


class Ranges(NamedTuple):
    pods: str
    services: str


async def free_ranges(machine: Namespace | None = None, also: Iterable[str] = ()) -> Ranges:
    """The usual ones if they are free on this machine, else others. To be remembered: what is chosen
    once stays, since Services have their addresses from it. `also` is taken, too, though no route tells
    of it.
    """
    if machine is not None:
        return choose([*await machine.run(_taken), *also])
    with Namespace.current() as own:
        return choose([*await own.run(_taken), *also])


def choose(taken: Iterable[str]) -> Ranges:
    """Pure. `taken` are networks that the machine has routes or addresses in."""
    others = [
        found
        for text in taken
        if isinstance(found := ip_network(text, strict=False), IPv4Network) and found.prefixlen
    ]
    pods = _first_free(PODS, others)
    services = _first_free(SERVICES, [*others, pods])
    return Ranges(str(pods), str(services))


def overlapping(
    ours: Iterable[str], others: Iterable[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    """Pure. Which of our ranges others reach into that came later: ours, theirs, and the link of theirs.
    `others` are destinations of routes, each with its link.
    """
    return [
        (text, destination, link)
        for destination, link in others
        if isinstance(found := ip_network(destination, strict=False), IPv4Network)
        and found.prefixlen
        for text in ours
        if IPv4Network(text).overlaps(found)
    ]


def _first_free(usual: str, others: list[IPv4Network]) -> IPv4Network:
    for candidate in _candidates(IPv4Network(usual)):
        if not any(candidate.overlaps(other) for other in others):
            return candidate
    raise ConfigError(
        f"no private range of addresses is free on this machine: its routes take all of "
        f"{', '.join(_OTHERS)}; free one of at least {1 << (32 - _LEAST)} addresses",
        reason="NoFreeRange",
    )


def _candidates(usual: IPv4Network) -> Iterator[IPv4Network]:
    yield usual
    for length in (16, _LEAST):
        for pool in map(IPv4Network, _OTHERS):
            yield from pool.subnets(new_prefix=max(length, pool.prefixlen))


def _taken() -> list[str]:
    with Kernel() as kernel:
        routes = [destination for destination, _ in kernel.route_destinations()]
        return [*routes, *(str(each.network) for each in kernel.addresses())]
