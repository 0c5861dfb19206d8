"""Services that lead to guests."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import click

from kubevirt.api.resource import Resource
from kubevirt.api.scheme import (
    REPLICA_SETS,
    SERVICES,
    VIRTUAL_MACHINE_INSTANCES,
    VIRTUAL_MACHINES,
)
from kubevirt.base.errors import UserError
from kubevirt.cli.asking import Session
from kubevirt.cli.targets import checked
from kubevirt.virt.pod import names

Object = Mapping[str, Any]

_TYPES: Final = ("ClusterIP", "NodePort", "LoadBalancer")
_FAMILIES: Final = {
    "ipv4": ("IPv4",),
    "ipv6": ("IPv6",),
    "ipv4,ipv6": ("IPv4", "IPv6"),
    "ipv6,ipv4": ("IPv6", "IPv4"),
}
_RESOURCES: Final[Mapping[str, Resource[Any]]] = {
    "vm": VIRTUAL_MACHINES,
    "vmi": VIRTUAL_MACHINE_INSTANCES,
    "vmirs": REPLICA_SETS,
}
_ALIASES: Final = {
    "vms": "vm",
    "virtualmachine": "vm",
    "virtualmachines": "vm",
    "vmis": "vmi",
    "virtualmachineinstance": "vmi",
    "virtualmachineinstances": "vmi",
    "vmirss": "vmirs",
    "virtualmachineinstancereplicaset": "vmirs",
    "virtualmachineinstancereplicasets": "vmirs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    kind: str
    name: str
    service: str
    cluster_ip: str = ""
    external_ip: str = ""
    port: int = 0
    protocol: str = "TCP"
    target_port: str = ""
    form: str = "ClusterIP"
    port_name: str = ""
    ip_families: tuple[str, ...] = ()
    ip_family_policy: str = ""


def families(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    found = _FAMILIES.get(text.replace(" ", "").lower())
    if found is None:
        raise UserError(
            f"{text!r} is no IP family; there are IPv4, IPv6, and both with a comma", reason="Usage"
        )
    return found


def check(wish: Wish) -> None:
    if _short(wish.kind) not in _RESOURCES:
        raise UserError(f"a {wish.kind} cannot be exposed; a vm, vmi or vmirs can", reason="Usage")
    if wish.protocol not in ("TCP", "UDP"):
        raise UserError(f"the protocol is TCP or UDP, not {wish.protocol}", reason="Usage")
    if wish.form not in _TYPES:
        raise UserError(
            f"no service of the type {wish.form} leads to a guest; there are {', '.join(_TYPES)}",
            reason="Usage",
        )
    checked(wish.name, "name")


async def expose(wish: Wish, output: str, session: Session) -> None:
    kind = _short(wish.kind)
    found = await session.client.get(_RESOURCES[kind].raw, wish.name, session.namespace)
    made = await session.client.create(SERVICES.raw, service(wish, found), session.namespace)
    if output == "json":
        click.echo(json.dumps(made, indent=2))
    else:
        click.echo(
            f"Service {wish.service} successfully created for {wish.kind.lower()} {wish.name}"
        )


def service(wish: Wish, found: Object) -> dict[str, Any]:
    """For an object as the server has it."""
    spec = {
        "ports": list(_ports(wish, found)),
        "selector": _selector(_short(wish.kind), found),
        "type": wish.form,
        "clusterIP": wish.cluster_ip,
        "externalIPs": [wish.external_ip] if wish.external_ip else [],
        "ipFamilies": list(wish.ip_families),
        "ipFamilyPolicy": wish.ip_family_policy,
    }
    return {
        "metadata": {"name": wish.service},
        "spec": {key: value for key, value in spec.items() if value},
    }


def _short(kind: str) -> str:
    word = kind.lower()
    return _ALIASES.get(word, word)


def _selector(kind: str, found: Object) -> dict[str, str]:
    """One guest by what its pod is named by: labels of its own may be those of others, too."""
    if kind != "vmirs":
        return {names.INSTANCE_ID: names.label_value(str(found["metadata"]["name"]))}
    selector = found["spec"]["selector"]
    if selector.get("matchExpressions"):
        raise UserError(
            "a replica set is exposed by its labels, and this one has expressions, which a Service cannot have"
        )
    if not selector.get("matchLabels"):
        raise UserError(f"the replica set {found['metadata']['name']} selects by no label")
    return dict(selector["matchLabels"])


def _ports(wish: Wish, found: Object) -> Iterator[dict[str, Any]]:
    if wish.port:
        yield _port(wish.port, wish.protocol, wish.port_name, _target(wish.target_port))
        return
    listed = _listed_ports(found)
    if not listed:
        raise UserError(
            "the guest's interface lists no port to take; name one with --port", reason="Usage"
        )
    for number, each in enumerate(listed, 1):
        yield _port(each["port"], each.get("protocol") or "TCP", f"port-{number}", None)


def _port(number: int, protocol: str, name: str, target: int | str | None) -> dict[str, Any]:
    port = {"name": name, "port": number, "protocol": protocol, "targetPort": target}
    return {key: value for key, value in port.items() if value}


def _target(text: str) -> int | str | None:
    return int(text) if text.isdigit() else text or None


def _listed_ports(found: Object) -> list[dict[str, Any]]:
    """Of the interface on the pod's network."""
    spec = found["spec"]
    spec = spec.get("template", {}).get("spec", {}) if "template" in spec else spec
    on_pod = {each["name"] for each in spec.get("networks", ()) if "pod" in each}
    interfaces = spec.get("domain", {}).get("devices", {}).get("interfaces", ())
    for each in interfaces:
        if each["name"] in on_pod:
            return list(each.get("ports", ()))
    return []
