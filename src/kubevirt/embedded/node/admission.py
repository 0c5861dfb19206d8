"""Whether a node takes a pod that was given to it: a kubelet's reasons and words.

The scheduler has looked at all this already, but it may have been wrong meanwhile, and a pod may come here
without it. What is let in stays in: this is asked once in a pod's life.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.base.quantity import ZERO, Quantity
from kubevirt.embedded.network.node import SAFE_SWITCHES
from kubevirt.embedded.node import unsupported
from kubevirt.embedded.node.seen import Verdict
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.scheduler import demand, wishes

UNSUPPORTED: Final = "PodFeatureUnsupported"
Port = tuple[str, int]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What a pod comes to."""

    node: Node
    pods: Sequence[Pod] = ()
    """That are here already and have not ended."""
    ports_in_use: frozenset[Port] = frozenset()
    """Protocol and number, in the node's own network."""


def judge(pod: Pod, place: Place) -> Verdict | None:
    """None for one that may come in."""
    found = next(_objections(pod, place), None)
    if found is None:
        return None
    reason, message = found
    return Verdict(reason=reason, message=message, is_refusal=True)


def _objections(pod: Pod, place: Place) -> Iterator[tuple[str, str]]:
    for missing in unsupported.of(pod):
        yield UNSUPPORTED, missing
    yield from _switches(pod)
    yield from _elsewhere(pod, place)
    yield from _ports(pod, place)
    yield from _room(pod, place)


def _switches(pod: Pod) -> Iterator[tuple[str, str]]:
    """Of the kernel, for the pod's own namespaces."""
    spec = spec_of(pod)
    for each in spec.security_context.sysctls if spec.security_context else ():
        if each.name not in SAFE_SWITCHES:
            yield "SysctlForbidden", f'forbidden sysctl: "{each.name}" not allowlisted'
        elif spec.host_network:
            words = f'forbidden sysctl: "{each.name}" not allowed with host net enabled'
            yield "SysctlForbidden", words


def _elsewhere(pod: Pod, place: Place) -> Iterator[tuple[str, str]]:
    if not wishes.takes_node(pod, place.node):
        yield (
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        )


def _ports(pod: Pod, place: Place) -> Iterator[tuple[str, str]]:
    asked = demand.host_ports(pod)
    if asked and demand.are_ports_taken(asked, place.pods):
        yield (
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        )
    for _, protocol, number in sorted(asked):
        if (protocol, number) in place.ports_in_use:
            message = (
                f"Predicate NodePorts failed: port {number}/{protocol} of the node is in use by a"
                " program outside of the cluster"
            )
            yield "NodePorts", message


def _room(pod: Pod, place: Place) -> Iterator[tuple[str, str]]:
    offered = demand.amounts(place.node.status.allocatable)
    most = offered.get("pods", ZERO).value()
    if len(place.pods) + 1 > most:
        yield _out_of("pods", Quantity.of(1), Quantity.of(len(place.pods)), Quantity.of(most))
    taken = demand.added(demand.of_pod(each) for each in place.pods)
    for name, amount in sorted(demand.of_pod(pod).items()):
        used, capacity = taken.get(name, ZERO), offered.get(name, ZERO)
        if amount and used + amount > capacity:
            yield _out_of(name, amount, used, capacity)


def _out_of(name: str, asked: Quantity, used: Quantity, capacity: Quantity) -> tuple[str, str]:
    """Processors are counted in thousandths, all others whole."""
    counted = [
        each.milli_value() if name == "cpu" else each.value() for each in (asked, used, capacity)
    ]
    requested, taken, most = counted
    message = (
        f"Node didn't have enough resource: {name}, requested: {requested}, used: {taken},"
        f" capacity: {most}"
    )
    return f"OutOf{name}", message


_LISTENS: Final = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}


def listening(tables: Iterable[tuple[str, str]]) -> frozenset[Port]:
    """The ports that somebody listens on, from the kernel's tables (/proc/net/tcp and its like) by name."""
    found = set[Port]()
    for name, text in tables:
        for line in text.splitlines()[1:]:
            fields = line.split()
            if len(fields) > 3 and fields[3] == _LISTENS.get(name):
                number = int(fields[1].rpartition(":")[2], 16)
                found.add((name.removesuffix("6").upper(), number))
    return frozenset(found)
