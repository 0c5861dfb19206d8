"""Addresses and ports of Services, and who answers behind each. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from kubevirt.base.addresses import is_ipv4
from kubevirt.embedded.network.objects import Endpoint, EndpointSlice, Service

PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
MOST_ENDPOINTS: Final = 1000
"""Of one port: more would be a chain each in the kernel, and one machine has no so many pods."""


class Backend(NamedTuple):
    address: str
    port: int


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """One port of one Service."""

    name: str
    """namespace/name, for people."""
    address: str
    port: int
    protocol: str
    """In small letters, as nftables has it."""
    backends: Sequence[Backend] = ()
    affinity_s: int = 0


def fronts(services: Iterable[Service], slices: Iterable[EndpointSlice]) -> list[Front]:
    """Sorted, so that the same cluster gives the same rules."""
    by_service: dict[tuple[str, str], list[EndpointSlice]] = {}
    for each in slices:
        if each.address_type == "IPv4" and each.service[1]:
            by_service.setdefault(each.service, []).append(each)
    found = [
        front for service in services for front in _of(service, by_service.get(service.place, ()))
    ]
    return sorted(found, key=lambda front: (front.address, front.protocol, front.port))


def _of(service: Service, slices: Sequence[EndpointSlice]) -> Iterator[Front]:
    address = service.address
    if not is_ipv4(address):
        return
    for port in service.spec.ports or ():
        protocol = port.protocol or "TCP"
        if protocol in PROTOCOLS:
            yield Front(
                name="/".join(service.place),
                address=address,
                port=port.port,
                protocol=protocol.lower(),
                backends=_backends(slices, port.name or "", protocol),
                affinity_s=service.affinity_s,
            )


def _backends(slices: Sequence[EndpointSlice], name: str, protocol: str) -> Sequence[Backend]:
    """Those that are ready; if there are none, those that are ending and still answer."""
    for is_wanted in (_is_ready, _is_serving_its_last):
        found = {
            Backend(endpoint.addresses[0], port.port)
            for each in slices
            for port in each.ports or ()
            if port.port and (port.name or "") == name and (port.protocol or "TCP") == protocol
            for endpoint in each.endpoints or ()
            if is_wanted(endpoint) and endpoint.addresses and is_ipv4(endpoint.addresses[0])
        }
        if found:
            return sorted(found)[:MOST_ENDPOINTS]
    return ()


def _is_ready(endpoint: Endpoint) -> bool:
    return endpoint.is_ready


def _is_serving_its_last(endpoint: Endpoint) -> bool:
    return endpoint.is_serving_its_last
