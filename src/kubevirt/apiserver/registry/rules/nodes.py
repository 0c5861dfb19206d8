"""Nodes: what they have, what they keep away, and what stays once it is said."""

from ipaddress import ip_network

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.pods.resources import quantity_errors
from kubevirt.apiserver.registry.rules.pods.scheduling import EFFECTS
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    Reason,
    duplicate,
    forbidden,
    invalid,
)
from kubevirt.apiserver.schema.gotext import json
from kubevirt.base.quantity import Quantity


def _with_ranges(node: Object) -> Object:
    """The addresses of its pods: one range as of old, or several of which that is the first."""
    spec = node.get("spec") or {}
    one, several = spec.get("podCIDR"), spec.get("podCIDRs") or []
    if one and several[:1] != [one]:
        return {**node, "spec": {**spec, "podCIDRs": [one]}}
    if several and not one:
        return {**node, "spec": {**spec, "podCIDR": several[0]}}
    return node


class NodeRules(Rules):
    def __init__(self) -> None:
        super().__init__(keeps_new_status=True)

    def defaulted(self, object_: Object) -> Object:
        """What a node has it can give, until it says otherwise."""
        object_ = _with_ranges(object_)
        status = object_.get("status") or {}
        if status.get("capacity") and "allocatable" not in status:
            status = {**status, "allocatable": status["capacity"]}
            return {**object_, "status": status}
        return object_

    def errors(self, object_: Object) -> list[FieldError]:
        return [*self._taints(object_), *self._resources(object_), *self._ranges(object_)]

    def _taints(self, node: Object) -> Errors:
        seen: set[tuple[str, str]] = set()
        for at, taint in enumerate(node.get("spec", {}).get("taints") or []):
            path = f"metadata.taints[{at}]"  # sic: Kubernetes says so too
            key, effect = taint.get("key", ""), taint.get("effect", "")
            yield from checks.named(f"{path}.key", key, names.qualified)
            if wrong := names.label_value(taint.get("value", "")):
                yield invalid(f"{path}.value", taint.get("value", ""), ";".join(wrong))
            yield from checks.one_of(f"{path}.effect", effect, EFFECTS, needed="")
            if (key, effect) in seen:
                unique = "taints must be unique by key and effect pair"
                words = f"Duplicate value: {_as_go(taint)}: {unique}"
                yield FieldError(Reason.DUPLICATE, path, words)
            seen.add((key, effect))

    def _resources(self, node: Object) -> Errors:
        for place in ("capacity", "allocatable"):
            for name, text in ((node.get("status") or {}).get(place) or {}).items():
                field = f"status.{place}.{name}"
                yield from quantity_errors(field, name, Quantity.parse(text))

    def _ranges(self, node: Object) -> Errors:
        ranges = node.get("spec", {}).get("podCIDRs") or []
        wrong = [
            error
            for at, each in enumerate(ranges)
            for error in checks.ip_block(f"spec.podCIDRs[{at}]", each)
        ]
        yield from wrong
        versions = [] if wrong else [ip_network(each, strict=False).version for each in ranges]
        if len(set(versions)) < len(versions):
            words = "may specify no more than one CIDR for each IP family"
            yield invalid("spec.podCIDRs", ranges, words)

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        return self.errors(new) + list(self._changes(new, old))

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:
        return self.errors_of_change(new, old)

    def _changes(self, new: Object, old: Object) -> Errors:
        seen: list[Object] = []
        for at, address in enumerate((new.get("status") or {}).get("addresses") or []):
            if address in seen:
                yield duplicate(f"status.addresses[{at}]", address)
            seen.append(address)
        after, before = new.get("spec") or {}, old.get("spec") or {}
        if before.get("podCIDRs") and before["podCIDRs"] != after.get("podCIDRs"):
            words = 'node updates may not change podCIDR except from "" to valid'
            yield forbidden("spec.podCIDRs", words)
        if before.get("providerID") and before["providerID"] != after.get("providerID"):
            words = 'node updates may not change providerID except from "" to valid'
            yield forbidden("spec.providerID", words)


def _as_go(taint: Object) -> str:
    """As the server's own type is printed, which has no names for JSON."""
    shown = (
        ("Key", taint.get("key", "")),
        ("Value", taint.get("value", "")),
        ("Effect", taint.get("effect", "")),
        ("TimeAdded", taint.get("timeAdded")),
    )
    return "{" + ",".join(f'"{name}":{json(value)}' for name, value in shown) + "}"
