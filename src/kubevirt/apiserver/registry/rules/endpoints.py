"""Endpoints of services, of both kinds: addresses that somebody else can reach."""

import ipaddress
from collections.abc import Sequence
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import PROTOCOLS, Errors
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    duplicate,
    invalid,
    required,
    too_many,
)

_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_MOST_ADDRESSES: Final = 100
_MOST_ENDPOINTS: Final = 1000
_MOST_PORTS: Final = 20000


def reachable(field: str, text: str) -> Errors:
    """An address that means the same machine to everybody."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        yield invalid(field, text, "must be a valid IP address")
        return
    if address.is_unspecified:
        yield invalid(field, text, f"may not be unspecified ({text})")
    if address.is_loopback:
        words = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        yield invalid(field, text, words)
    if address.is_link_local:
        words = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        yield invalid(field, text, words)


class EndpointsRules(Rules):
    def __init__(self) -> None:
        super().__init__(is_created_by_update=True)

    def defaulted(self, object_: Object) -> Object:
        subsets = object_.get("subsets")
        return (
            {**object_, "subsets": [_with_protocols(each) for each in subsets]}
            if subsets
            else object_
        )

    def errors(self, object_: Object) -> list[FieldError]:
        return [
            error
            for at, subset in enumerate(object_.get("subsets") or [])
            for error in self._subset(subset, f"subsets[{at}]")
        ]

    def _subset(self, subset: Object, path: str) -> Errors:
        ready, others = subset.get("addresses") or [], subset.get("notReadyAddresses") or []
        if not ready and not others:
            yield required(path, "must specify `addresses` or `notReadyAddresses`")
        for name, addresses in (("addresses", ready), ("notReadyAddresses", others)):
            for at, address in enumerate(addresses):
                field = f"{path}.{name}[{at}]"
                yield from checks.ip_address(f"{field}.ip", address.get("ip", ""))
                if host := address.get("hostname"):
                    yield from checks.named(f"{field}.hostname", host, names.label)
                if (node := address.get("nodeName")) is not None:
                    yield from checks.named(f"{field}.nodeName", node, names.subdomain)
                yield from reachable(f"{field}.ip", address.get("ip", ""))
        ports = subset.get("ports") or []
        for at, port in enumerate(ports):
            yield from self._port(port, f"{path}.ports[{at}]", is_named=len(ports) > 1)

    def _port(self, port: Object, path: str, *, is_named: bool) -> Errors:
        if name := port.get("name"):
            yield from checks.named(f"{path}.name", name, names.label)
        elif is_named:
            yield required(f"{path}.name")
        yield from checks.within(f"{path}.port", port.get("port", 0), 1, 65535)
        yield from checks.one_of(f"{path}.protocol", port.get("protocol", ""), PROTOCOLS, needed="")


def _with_protocols(subset: Object) -> Object:
    if not (ports := subset.get("ports")):
        return subset
    return {**subset, "ports": [{"protocol": "TCP", **each} for each in ports]}


class EndpointSliceRules(Rules):
    def __init__(self) -> None:
        super().__init__(has_generation=True)

    def defaulted(self, object_: Object) -> Object:
        ports = object_.get("ports") or []
        made = [{"name": "", "protocol": "TCP", **each} for each in ports]
        return {**object_, "ports": made} if ports else object_

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_))

    def _errors(self, object_: Object) -> Errors:
        kind = object_.get("addressType", "")
        yield from checks.one_of("addressType", kind, _TYPES, needed="")
        yield from self._ports(object_.get("ports") or [])
        endpoints = object_.get("endpoints") or []
        if len(endpoints) > _MOST_ENDPOINTS:
            yield too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)
            return
        for at, endpoint in enumerate(endpoints):
            yield from self._endpoint(endpoint, kind, f"endpoints[{at}]")

    def _ports(self, ports: Sequence[Object]) -> Errors:
        if len(ports) > _MOST_PORTS:
            yield too_many("ports", len(ports), _MOST_PORTS)
            return
        seen: set[str] = set()
        for at, port in enumerate(ports):
            name = port.get("name", "")
            if name:
                yield from checks.named(f"ports[{at}].name", name, names.label)
            if name in seen:
                yield duplicate(f"ports[{at}].name", name)
            seen.add(name)
            yield from checks.one_of(
                f"ports[{at}].protocol", port.get("protocol", ""), PROTOCOLS, needed=""
            )

    def _endpoint(self, endpoint: Object, kind: str, path: str) -> Errors:
        addresses = endpoint.get("addresses") or []
        if not addresses:
            yield required(f"{path}.addresses", "must contain at least 1 address")
        elif len(addresses) > _MOST_ADDRESSES:
            yield too_many(f"{path}.addresses", len(addresses), _MOST_ADDRESSES)
        for at, address in enumerate(addresses):
            yield from self._address(address, kind, f"{path}.addresses", at)
        if (node := endpoint.get("nodeName")) is not None:
            yield from checks.named(f"{path}.nodeName", node, names.subdomain)
        if (host := endpoint.get("hostname")) is not None:
            yield from checks.named(f"{path}.hostname", host, names.label)

    def _address(self, address: str, kind: str, whole: str, at: int) -> Errors:
        if kind not in ("IPv4", "IPv6"):
            return
        field = f"{whole}[{at}]"
        wrong = list(checks.ip_address(field, address))
        yield from wrong
        if wrong:
            return
        if ipaddress.ip_address(address).version != (4 if kind == "IPv4" else 6):
            yield invalid(whole, address, f"must be an {kind} address")
        yield from reachable(field, address)

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = self.errors(new)
        kind = new.get("addressType")
        if kind != old.get("addressType"):
            found.append(invalid("addressType", kind, "field is immutable"))
        return found
