"""What a pod may know about itself: its fields and its resources, as variables or files show them."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.references import ResourceFieldSelector
from kubevirt.api.struct import Quantity as WrittenQuantity
from kubevirt.apiserver.schema.gotext import quoted
from kubevirt.base.errors import UserError
from kubevirt.base.quantity import Quantity
from kubevirt.embedded.node.policy import all_containers
from kubevirt.embedded.objects.pods import spec_of

_SUBSCRIPT: Final = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """What is known only where the pod runs."""

    addresses: tuple[str, ...] = ()
    host_addresses: tuple[str, ...] = ()
    allocatable: Mapping[str, WrittenQuantity] = {}
    """Of the node: the limit of a container that has none."""


def field(pod: Pod, path: str, places: Places) -> str:
    metadata = pod.metadata
    if found := _SUBSCRIPT.fullmatch(path):
        entries = metadata.labels if found[1] == "labels" else metadata.annotations
        return entries.get(found[2], "")
    spec = spec_of(pod)
    known = {
        "metadata.name": metadata.name,
        "metadata.namespace": metadata.namespace,
        "metadata.uid": metadata.uid,
        "metadata.labels": _lines(metadata.labels),
        "metadata.annotations": _lines(metadata.annotations),
        "spec.nodeName": spec.node_name,
        "spec.serviceAccountName": spec.service_account_name,
        "status.hostIP": next(iter(places.host_addresses), ""),
        "status.hostIPs": ",".join(places.host_addresses),
        "status.podIP": next(iter(places.addresses), ""),
        "status.podIPs": ",".join(places.addresses),
    }
    if path not in known:
        raise UserError(f"unsupported fieldPath: {path}")
    return known[path] or ""


def resource(
    pod: Pod, container: Container, selector: ResourceFieldSelector, places: Places
) -> str:
    """In whole divisors, rounded up. Processors have thousandths, all others none."""
    asked = _named(pod, selector.container_name) or container
    kind, _, name = selector.resource.partition(".")
    amount = _amount(asked, kind, name, places)
    divisor = Quantity.from_json(selector.divisor or "1")
    if not divisor:
        divisor = Quantity.of(1)
    if name == "cpu":
        return str(-(-amount.milli_value() // divisor.milli_value()))
    return str(-(-amount.value() // divisor.value()))


def _named(pod: Pod, name: str | None) -> Container | None:
    if not name:
        return None
    for each in all_containers(pod):
        if each.name == name:
            return each
    raise UserError(f"container {name} not found")


def _amount(container: Container, kind: str, name: str, places: Places) -> Quantity:
    said = container.resources
    if kind not in ("limits", "requests"):
        raise UserError(f"unsupported container resource : {kind}.{name}")
    found = (said.limits if kind == "limits" else said.requests) if said else {}
    fallback = places.allocatable.get(name, "0") if kind == "limits" else "0"
    return Quantity.from_json(found.get(name, fallback))


def _lines(entries: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={quoted(entries[key])}" for key in sorted(entries))
