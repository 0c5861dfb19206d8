"""Services: a name that stands for whoever answers at some ports.

Their addresses and node ports come from `plugins/service_addresses.py`, before they are judged here.
"""

from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import PROTOCOLS, Errors
from kubevirt.apiserver.registry.rules.endpoints import reachable
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    Verbatim,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubevirt.apiserver.schema.gotext import json

HEADLESS: Final = "None"
ELSEWHERE: Final = "ExternalName"
BALANCED: Final = "LoadBalancer"
_TYPES: Final = ("ClusterIP", ELSEWHERE, BALANCED, "NodePort")
_WITH_TRAFFIC: Final = ("ClusterIP", "NodePort", BALANCED)
_AFFINITIES: Final = ("ClientIP", "None")
_TRAFFIC: Final = ("Cluster", "Local")
_FAMILIES: Final = ("IPv4", "IPv6")
_FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_AFFINITY_S: Final = 10800
_DAY_S: Final = 86400


def is_headless(spec: Object) -> bool:
    return spec.get("clusterIP") == HEADLESS or (spec.get("clusterIPs") or [""])[0] == HEADLESS


def _is_outside(spec: Object) -> bool:
    """Whether it can be reached from outside the cluster."""
    kind = spec.get("type")
    return kind in ("NodePort", BALANCED) or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


class ServiceRules(Rules):
    """A service's name is the first label of its domain name."""

    def __init__(self) -> None:
        super().__init__(
            is_created_by_update=True,
            is_returned_when_deleted=True,
            first_status={"loadBalancer": {}},
            name_rule=names.label_1035,
        )

    def defaulted(self, object_: Object) -> Object:
        said: Object = object_.get("spec") or {}
        spec = {"sessionAffinity": "None", "type": "ClusterIP", **said}
        if spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        elif spec["sessionAffinity"] == "ClientIP":
            own = (said.get("sessionAffinityConfig") or {}).get("clientIP") or {}
            timeout = own.get("timeoutSeconds", _AFFINITY_S)
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": timeout}}
        if spec.get("ports"):
            spec["ports"] = [_port(each) for each in spec["ports"]]
        if _is_outside(spec):
            spec.setdefault("externalTrafficPolicy", "Cluster")
        if spec["type"] in _WITH_TRAFFIC:
            spec.setdefault("internalTrafficPolicy", "Cluster")
        if spec["type"] == BALANCED:
            spec.setdefault("allocateLoadBalancerNodePorts", True)
        return {**object_, "spec": spec}

    def errors(self, object_: Object) -> list[FieldError]:
        spec = object_["spec"]
        return [
            *_type(spec),
            *_ports(spec),
            *checks.labels("spec.selector", spec.get("selector") or {}),
            *_affinity(spec),
            *_addresses(spec),
            *_external(spec),
            *_traffic(spec),
        ]

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        return [*_address_changes(new["spec"], old["spec"]), *self.errors(new)]


def _port(port: Object) -> Object:
    made = {"protocol": "TCP", **port}
    if not made.get("targetPort"):
        made["targetPort"] = made.get("port", 0)
    return made


def _type(spec: Object) -> Errors:
    kind = spec.get("type", "")
    if not spec.get("ports") and not is_headless(spec) and kind != ELSEWHERE:
        yield required("spec.ports")
    if kind in ("NodePort", BALANCED) and is_headless(spec):
        words = f"may not be set to 'None' for {kind} services"
        yield invalid("spec.clusterIPs[0]", HEADLESS, words)
    if kind == ELSEWHERE:
        for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name):
                yield forbidden(f"spec.{name}", "may not be set for ExternalName services")
        if name := spec.get("externalName", "").removesuffix("."):
            yield from checks.named("spec.externalName", name, names.subdomain)
        else:
            yield required("spec.externalName")
    yield from checks.one_of("spec.type", kind, _TYPES, needed="")


def _ports(spec: Object) -> Errors:
    ports = spec.get("ports") or []
    seen: set[str] = set()
    numbers: set[tuple[str, int]] = set()
    for at, port in enumerate(ports):
        field, name = f"spec.ports[{at}]", port.get("name", "")
        protocol, number = port.get("protocol", ""), port.get("port", 0)
        if name:
            yield from checks.named(f"{field}.name", name, names.label)
            if name in seen:
                yield duplicate(f"{field}.name", name)
            seen.add(name)
        elif len(ports) > 1:
            yield required(f"{field}.name")
        yield from checks.within(f"{field}.port", number, 1, 65535)
        yield from checks.one_of(f"{field}.protocol", protocol, PROTOCOLS, needed="")
        yield from checks.port(f"{field}.targetPort", port.get("targetPort"))
        if (app := port.get("appProtocol")) is not None:
            yield from checks.named(f"{field}.appProtocol", app, names.qualified)
        if port.get("nodePort") and spec.get("type") == "ClusterIP":
            yield forbidden(f"{field}.nodePort", "may not be used when `type` is 'ClusterIP'")
        if (protocol, number) in numbers:
            yield duplicate(field, Verbatim(_as_go(protocol, number)))
        numbers.add((protocol, number))
    yield from _node_ports(ports)


def _node_ports(ports: list[Object]) -> Errors:
    taken: set[tuple[str, int]] = set()
    for at, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("nodePort", 0))
        if key[1] and key in taken:
            yield duplicate(f"spec.ports[{at}].nodePort", key[1])
        taken.add(key)


def _as_go(protocol: str, number: int) -> str:
    """As the server's own type is printed, which has no names for JSON."""
    return (
        f'{{"Name":"","Protocol":{json(protocol)},"AppProtocol":null,"Port":{number},'
        '"TargetPort":0,"NodePort":0}'
    )


def _affinity(spec: Object) -> Errors:
    word = spec.get("sessionAffinity", "")
    yield from checks.one_of("spec.sessionAffinity", word, _AFFINITIES, needed="")
    config = spec.get("sessionAffinityConfig")
    if word == "ClientIP" and config:
        seconds = (config.get("clientIP") or {}).get("timeoutSeconds", 0)
        if not 0 < seconds <= _DAY_S:
            field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            yield invalid(field, seconds, f"must be greater than 0 and less than {_DAY_S}")


def _addresses(spec: Object) -> Errors:
    if spec.get("type") == ELSEWHERE:
        return
    first, all_ = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    if first and not all_:
        yield required("spec.clusterIPs")
    elif first and all_[0] != first:
        yield invalid("spec.clusterIPs", all_, "first value must match `clusterIP`")
    elif all_ and not first:
        yield invalid("spec.clusterIPs", all_, "must be empty when `clusterIP` is not specified")
    yield from _families(spec)
    if HEADLESS in all_[:1]:
        if len(all_) > 1:
            yield invalid("spec.clusterIPs", all_, "'None' must be the first and only value")
        return
    for at, address in enumerate(all_):
        yield from checks.ip_address(f"spec.clusterIPs[{at}]", address)
    if len(all_) > 2:
        yield invalid("spec.clusterIPs", all_, "may only hold up to 2 values")


def _families(spec: Object) -> Errors:
    families = spec.get("ipFamilies") or []
    for at, family in enumerate(families):
        if family not in _FAMILIES:
            yield not_supported(f"spec.ipFamilies[{at}]", family, _FAMILIES)
        if family in families[:at]:
            yield duplicate(f"spec.ipFamilies[{at}]", family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None:
        yield from checks.one_of("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES)


def _external(spec: Object) -> Errors:
    for at, address in enumerate(spec.get("externalIPs") or []):
        wrong = list(checks.ip_address(f"spec.externalIPs[{at}]", address))
        yield from wrong or reachable(f"spec.externalIPs[{at}]", address)
    is_balanced = spec.get("type") == BALANCED
    only = "may only be used when `type` is 'LoadBalancer'"
    if spec.get("loadBalancerSourceRanges") and not is_balanced:
        yield forbidden("spec.LoadBalancerSourceRanges", only)
    if spec.get("allocateLoadBalancerNodePorts") is not None and not is_balanced:
        yield forbidden("spec.allocateLoadBalancerNodePorts", only)
    for at, block in enumerate(spec.get("loadBalancerSourceRanges") or []):
        yield from checks.ip_block(f"spec.LoadBalancerSourceRanges[{at}]", block.strip())
    if (class_name := spec.get("loadBalancerClass")) is None:
        return
    if is_balanced:
        yield from checks.named("spec.loadBalancerClass", class_name, names.qualified)
    else:
        yield forbidden("spec.loadBalancerClass", only)


def _traffic(spec: Object) -> Errors:
    policy = spec.get("externalTrafficPolicy", "")
    if _is_outside(spec):
        yield from checks.one_of("spec.externalTrafficPolicy", policy, _TRAFFIC, needed="")
    elif policy:
        words = "may only be set for externally-accessible services"
        yield invalid("spec.externalTrafficPolicy", policy, words)
    if (inside := spec.get("internalTrafficPolicy")) is not None:
        yield from checks.one_of("spec.internalTrafficPolicy", inside, _TRAFFIC)
    if (spread := spec.get("trafficDistribution")) is not None:
        yield from checks.one_of("spec.trafficDistribution", spread, _DISTRIBUTIONS)


def _address_changes(after: Object, before: Object) -> Errors:
    """An address that was given stays."""
    if ELSEWHERE in (after.get("type"), before.get("type")):
        return
    now, then = after.get("clusterIPs") or [], before.get("clusterIPs") or []
    if is_headless(after) and is_headless(before):
        return
    if then and not now:
        yield invalid("spec.clusterIPs[0]", Verbatim("null"), "primary clusterIP can not be unset")
    elif then and now[0] != then[0]:
        yield invalid("spec.clusterIPs[0]", now, "may not change once set")
