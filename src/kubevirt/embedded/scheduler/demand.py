"""What a pod asks of its node, counted as Kubernetes counts it.

Containers run side by side, so they add up. Init containers run one after the other before them, so only
the largest counts; but those that stay (sidecars) are there beside everything that comes later.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod, PodSpec
from kubevirt.api.struct import Quantity as WrittenQuantity
from kubevirt.base.quantity import ZERO, Quantity
from kubevirt.embedded.objects.pods import spec_of

Amounts = dict[str, Quantity]
HUGE_PAGES: Final = "hugepages-"
_ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104  # compared, not bound
HostPort = tuple[str, str, int]
"""Address, protocol and port on the node itself."""


def amounts(written: Mapping[str, WrittenQuantity]) -> Amounts:
    return {name: Quantity.from_json(value) for name, value in written.items()}


def of_pod(pod: Pod) -> Amounts:
    spec = spec_of(pod)
    beside = added(_requests(each) for each in spec.containers)
    staying: Amounts = {}
    peak: Amounts = {}
    for each in spec.init_containers:
        asked = added((staying, _requests(each)))
        peak = _larger(peak, asked)
        if each.restart_policy == "Always":
            staying = asked
    total = _larger(added((beside, staying)), peak)
    return added((total | _of_whole_pod(spec), amounts(spec.overhead)))


def _requests(container: Container) -> Amounts:
    return amounts(container.resources.requests) if container.resources else {}


def _of_whole_pod(spec: PodSpec) -> Amounts:
    """Said for all containers together, it replaces their sum."""
    said = amounts(spec.resources.requests) if spec.resources else {}
    return {
        name: amount
        for name, amount in said.items()
        if name in ("cpu", "memory") or name.startswith(HUGE_PAGES)
    }


def added(parts: Iterable[Mapping[str, Quantity]]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, ZERO) + amount
    return total


def without(total: Amounts, part: Mapping[str, Quantity]) -> Amounts:
    """The total before the part came to it."""
    return {name: rest for name, amount in total.items() if (rest := amount - part.get(name, ZERO))}


def _larger(one: Mapping[str, Quantity], other: Mapping[str, Quantity]) -> Amounts:
    return {
        name: max(one.get(name, ZERO), other.get(name, ZERO)) for name in one.keys() | other.keys()
    }


def host_ports(pod: Pod) -> frozenset[HostPort]:
    """Each that is asked for."""
    spec = spec_of(pod)
    sidecars = (each for each in spec.init_containers if each.restart_policy == "Always")
    return frozenset(
        (port.host_ip or _ANY_ADDRESS, port.protocol or "TCP", port.host_port)
        for container in (*spec.containers, *sidecars)
        for port in container.ports
        if port.host_port
    )


def are_ports_taken(wanted: Iterable[HostPort], others: Iterable[Pod]) -> bool:
    taken = [port for other in others for port in host_ports(other)]
    return any(_collide(one, other) for one in wanted for other in taken)


def _collide(one: HostPort, other: HostPort) -> bool:
    is_same_address = one[0] == other[0] or _ANY_ADDRESS in (one[0], other[0])
    return is_same_address and one[1:] == other[1:]
