"""Addresses and node ports of services: each is of one service, and free again when that goes.

What is taken is read from the services that are there. Between the choice and the write a number is
reserved for a moment, so that two who come at the same time get two; a reservation lapses by itself,
whatever became of the service. Kubernetes does this behind admission; nobody can tell.
"""

import ipaddress
import secrets
from collections.abc import Iterator
from typing import Any, Final, Protocol

import msgspec

from kubevirt.apiserver import refusals
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.incoming import cause
from kubevirt.apiserver.registry.rules.services import BALANCED, ELSEWHERE, HEADLESS, is_headless
from kubevirt.apiserver.schema.field_errors import FieldError, invalid
from kubevirt.base.clock import Clock

Object = dict[str, Any]
Taken = set[str | int]
Key = tuple[str, str]
"""Namespace and name."""

RESERVED_S: Final = 30.0
DEFAULT_CIDR: Final = "10.96.0.0/12"
NODE_PORTS: Final = range(30000, 32768)
_ATTEMPTS: Final = 64
_RELEASED: Final = (
    "clusterIP",
    "clusterIPs",
    "internalTrafficPolicy",
    "ipFamilies",
    "ipFamilyPolicy",
)
"""What a service gives up that stands for somebody elsewhere."""


class ServiceAddressSettings(msgspec.Struct, frozen=True, kw_only=True):
    cidr: str = DEFAULT_CIDR
    """Where services have their addresses, as kubeadm chooses them."""


class Listing(Protocol):
    async def all(self, group: str, plural: str) -> list[Object]: ...


class ServiceAddresses:
    def __init__(self, lookup: Listing, clock: Clock, settings: ServiceAddressSettings) -> None:
        self._lookup = lookup
        self._clock = clock
        self._range = ipaddress.ip_network(settings.cidr)
        self._reserved: dict[str | int, tuple[Key, float]] = {}
        """For which service, and until when."""

    async def mutate(self, object_: Object, review: Review) -> Object:
        call = review.call
        if (call.kind.group_resource, call.subresource) != ("services", ""):
            return object_
        spec, old = object_["spec"], (review.old or {}).get("spec") or {}
        spec = _with_first_address(spec, old)
        if spec.get("type") == ELSEWHERE:
            if old and old.get("type") != ELSEWHERE:
                spec = {name: value for name, value in spec.items() if name not in _RELEASED}
            return {**object_, "spec": spec}
        taken = await self._taken(object_)
        spec = self._with_address(spec, old, taken, object_, review)
        spec = self._with_ports(spec, old, taken, object_, review)
        return {**object_, "spec": spec}

    async def validate(self, object_: Object | None, review: Review) -> None:
        """Said already."""

    async def _taken(self, own: Object) -> Taken:
        """By others than a service of this name."""
        taken: Taken = set()
        written = set()
        for service in await self._lookup.all("", "services"):
            written.add(_key(service))
            if _key(service) != _key(own):
                taken.update(_numbers(service["spec"]))
        now = self._clock.monotonic()
        self._reserved = {
            number: (key, until)
            for number, (key, until) in self._reserved.items()
            if until > now and key not in written
        }
        return taken | {each for each, (key, _) in self._reserved.items() if key != _key(own)}

    def _reserve(self, number: str | int, service: Object, review: Review) -> None:
        if not review.dry_run:
            until = self._clock.monotonic() + RESERVED_S
            self._reserved[number] = (_key(service), until)

    # Addresses

    def _with_address(
        self, spec: Object, old: Object, taken: Taken, service: Object, review: Review
    ) -> Object:
        spec = dict(spec)
        if is_headless(spec):
            if not spec.get("selector"):
                spec.setdefault("ipFamilyPolicy", "RequireDualStack")
                spec.setdefault("ipFamilies", ["IPv4", "IPv6"])
        elif not spec.get("clusterIP"):
            spec["clusterIP"] = self._chosen(taken)
            spec["clusterIPs"] = [spec["clusterIP"]]
            self._reserve(spec["clusterIP"], service, review)
        elif not old.get("clusterIP"):
            if why := self._unusable(spec["clusterIP"], taken):
                words = f"failed to allocate IP {spec['clusterIP']}: {why}"
                raise _refused(
                    review, service, invalid("spec.clusterIPs", [spec["clusterIP"]], words)
                )
            self._reserve(spec["clusterIP"], service, review)
        spec.setdefault("ipFamilies", ["IPv4" if self._range.version == 4 else "IPv6"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        return spec

    def _chosen(self, taken: Taken) -> str:
        """By chance, as in Kubernetes: an address that was just freed is not used again at once."""
        size = self._range.num_addresses
        for _ in range(_ATTEMPTS):
            address = str(self._range[1 + secrets.randbelow(size - 2)])
            if address not in taken:
                return address
        for each in self._range.hosts():
            if str(each) not in taken:
                return str(each)
        raise refusals.internal("failed to allocate a serviceIP: range is full")

    def _unusable(self, text: str, taken: Taken) -> str:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return ""  # said by the rules
        if address not in self._range or address == self._range.network_address:
            return (
                f"the provided IP ({text}) is not in the valid range. The range of valid IPs is "
                f"{self._range}"
            )
        return "provided IP is already allocated" if text in taken else ""

    # Ports

    def _with_ports(
        self, spec: Object, old: Object, taken: Taken, service: Object, review: Review
    ) -> Object:
        needs_port = spec.get("type") == "NodePort" or (
            spec.get("type") == BALANCED and spec.get("allocateLoadBalancerNodePorts", True)
        )
        if not needs_port or not spec.get("ports"):
            return spec
        before = {
            (each.get("port"), each.get("protocol")): each.get("nodePort")
            for each in old.get("ports") or []
        }
        ports = []
        for at, port in enumerate(spec["ports"]):
            own = before.get((port.get("port"), port.get("protocol")))
            number = port.get("nodePort") or own or self._chosen_port(taken)
            if number != own:
                why = "" if review.dry_run else _unusable_port(number, taken)
                if why:
                    field = f"spec.ports[{at}].nodePort"
                    raise _refused(review, service, invalid(field, number, why))
                self._reserve(number, service, review)
                taken.add(number)
            ports.append({**port, "nodePort": number})
        return {**spec, "ports": ports}

    def _chosen_port(self, taken: Taken) -> int:
        free = [each for each in NODE_PORTS if each not in taken]
        if not free:
            raise refusals.internal("failed to allocate a nodePort: range is full")
        return secrets.choice(free)


def _with_first_address(spec: Object, old: Object) -> Object:
    """Most clients say one of the two fields and mean both."""
    spec = dict(spec)
    if (
        old
        and not spec.get("clusterIP")
        and not spec.get("clusterIPs")
        and _is_same_kind(spec, old)
    ):
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if name in old:
                spec.setdefault(name, old[name])
        spec["clusterIP"] = old.get("clusterIP", "")
        spec["clusterIPs"] = old.get("clusterIPs", [])
    is_another = bool(old) and spec.get("clusterIP") != old.get("clusterIP")
    if is_another and spec.get("clusterIP") and spec.get("clusterIPs") == old.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    elif spec.get("clusterIPs") and not spec.get("clusterIP"):
        spec["clusterIP"] = spec["clusterIPs"][0]
    return {name: value for name, value in spec.items() if value not in ("", [])}


def _key(service: Object) -> Key:
    metadata = service["metadata"]
    return metadata.get("namespace", ""), metadata.get("name", "")


def _is_same_kind(spec: Object, old: Object) -> bool:
    return ELSEWHERE not in (spec.get("type"), old.get("type"))


def _numbers(spec: Object) -> Iterator[str | int]:
    yield from (each for each in spec.get("clusterIPs") or [] if each != HEADLESS)
    for port in spec.get("ports") or []:
        if port.get("nodePort"):
            yield port["nodePort"]


def _unusable_port(number: int, taken: Taken) -> str:
    if number not in NODE_PORTS:
        first, last = NODE_PORTS[0], NODE_PORTS[-1]
        return (
            f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
        )
    return "provided port is already allocated" if number in taken else ""


def _refused(review: Review, service: Object, wrong: FieldError) -> refusals.Refusal:
    return refusals.invalid(review.call.kind, service["metadata"].get("name", ""), [cause(wrong)])
