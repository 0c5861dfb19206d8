"""The names of a cluster, by Kubernetes' DNS specification. Pure.

    web.default.svc.cluster.local               the address of a Service, or those behind a headless one
    host.web.default.svc.cluster.local          one of these: a pod with a hostname, or its address in dashes
    _http._tcp.web.default.svc.cluster.local    the port by that name

A Service that stands for a name elsewhere is an alias if that name is one of ours, and else has the addresses
that the name has: dnsmasq follows no alias to names that it does not know itself.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from kubevirt.base.addresses import is_ipv4
from kubevirt.embedded.network.objects import EXTERNAL_NAME, Endpoint, EndpointSlice, Service

T = TypeVar("T", bound=Hashable)

MOST: Final = 20_000
"""Records of a kind. A machine with more Services than that has other troubles."""
_LABEL: Final = re.compile(r"[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9])?")
_LONGEST_NAME: Final = 253


class Port(NamedTuple):
    name: str
    target: str
    port: int


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """Each in order, so that the same cluster gives the same text."""

    addresses: Sequence[tuple[str, str]] = ()
    """Name and address. Whoever asks for the name of an address hears the first one."""
    aliases: Sequence[tuple[str, str]] = ()
    ports: Sequence[Port] = ()


def records(
    services: Iterable[Service],
    slices: Iterable[EndpointSlice],
    domain: str,
    elsewhere: Mapping[str, Sequence[str]],
) -> Records:
    """`elsewhere` has the addresses of names that are not ours."""
    by_service: dict[tuple[str, str], list[EndpointSlice]] = {}
    for each in slices:
        if each.address_type == "IPv4":
            by_service.setdefault(each.service, []).append(each)
    addresses: list[tuple[str, str]] = []
    aliases: list[tuple[str, str]] = []
    ports: list[Port] = []
    for service in sorted(services, key=lambda each: each.place):
        own = f"{service.metadata.name}.{service.metadata.namespace}.svc.{domain}"
        if service.spec.type == EXTERNAL_NAME:
            target = external_name(service)
            if target.endswith(f".{domain}"):
                aliases.append((own, target))
            else:
                addresses += [(own, each) for each in elsewhere.get(target, ())]
        elif service.is_headless:
            found = by_service.get(service.place, [])
            addresses += _headless_addresses(own, found)
            ports += _headless_ports(own, found)
        elif service.address:
            addresses.append((own, service.address))
            ports += _ports(service, own)
    return Records(
        addresses=[each for each in _once(addresses) if _is_name(each[0]) and is_ipv4(each[1])],
        aliases=[each for each in _once(aliases) if all(map(_is_name, each))],
        ports=[each for each in _once(ports) if _is_name(each.name) and _is_name(each.target)],
    )


def external_name(service: Service) -> str:
    return (service.spec.external_name or "").rstrip(".").lower()


def names_elsewhere(services: Iterable[Service], domain: str) -> set[str]:
    """Names that are not ours, whose addresses must be known."""
    targets = {external_name(each) for each in services if each.spec.type == EXTERNAL_NAME}
    return {each for each in targets if _is_name(each) and not each.endswith(f".{domain}")}


def _ports(service: Service, own: str) -> Iterator[Port]:
    for port in service.spec.ports or ():
        if port.name:
            yield Port(_port_name(port.name, port.protocol, own), own, port.port)


def _headless_addresses(own: str, slices: Sequence[EndpointSlice]) -> Iterator[tuple[str, str]]:
    """Those of single endpoints first: they are the better names for the addresses."""
    ready = _ready(slices)
    yield from sorted({(f"{_host(each)}.{own}", each.addresses[0]) for each in ready})
    yield from sorted({(own, each.addresses[0]) for each in ready})


def _headless_ports(own: str, slices: Sequence[EndpointSlice]) -> Iterator[Port]:
    yield from sorted(
        {
            Port(_port_name(port.name, port.protocol, own), f"{_host(endpoint)}.{own}", port.port)
            for each in slices
            for port in each.ports or ()
            if port.name and port.port
            for endpoint in _ready([each])
        }
    )


def _ready(slices: Sequence[EndpointSlice]) -> list[Endpoint]:
    return [
        endpoint
        for each in slices
        for endpoint in each.endpoints or ()
        if endpoint.is_ready and endpoint.addresses
    ]


def _host(endpoint: Endpoint) -> str:
    return endpoint.hostname or endpoint.addresses[0].replace(".", "-")


def _port_name(name: str, protocol: str | None, own: str) -> str:
    return f"_{name}._{(protocol or 'TCP').lower()}.{own}"


def _once(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))[:MOST]


def _is_name(text: str) -> bool:
    """What a line of configuration may hold; the server refuses others, and nobody else is believed."""
    return len(text) <= _LONGEST_NAME and all(map(_LABEL.fullmatch, text.split(".")))
