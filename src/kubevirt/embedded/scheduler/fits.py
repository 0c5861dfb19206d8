"""Why a pod cannot run on a node: one function for each reason, in Kubernetes' words and order.

The first function that finds anything decides; it may find several things of its own kind.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from kubevirt.api.core.node import Taint
from kubevirt.api.core.pod import Pod
from kubevirt.base.quantity import ZERO
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.scheduler import demand, spreading, storage, wishes
from kubevirt.embedded.scheduler.cluster import Cluster, Place
from kubevirt.embedded.scheduler.neighbours import is_first, is_near, is_same_place, means
from kubevirt.embedded.scheduler.tolerations import is_tolerated, keeps_out

UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"


def reasons(pod: Pod, place: Place, cluster: Cluster) -> list[str]:
    """None if it fits."""
    for look in _LOOKS:
        if found := list(look(pod, place, cluster)):
            return found
    return []


def _cordoned(pod: Pod, place: Place, _: Cluster) -> Iterator[str]:
    taint = Taint(key=UNSCHEDULABLE, effect="NoSchedule")
    if place.node.spec.unschedulable and not is_tolerated(taint, spec_of(pod).tolerations):
        yield "node(s) were unschedulable"


def _named(pod: Pod, place: Place, _: Cluster) -> Iterator[str]:
    if spec_of(pod).node_name and spec_of(pod).node_name != place.name:
        yield "node(s) didn't match the requested node name"


def _tainted(pod: Pod, place: Place, _: Cluster) -> Iterator[str]:
    if keeps_out(place.node, spec_of(pod).tolerations):
        yield "node(s) had untolerated taint(s)"


def _elsewhere(pod: Pod, place: Place, _: Cluster) -> Iterator[str]:
    if not wishes.takes_node(pod, place.node):
        yield "node(s) didn't match Pod's node affinity/selector"


def _ports(pod: Pod, place: Place, _: Cluster) -> Iterator[str]:
    wanted = demand.host_ports(pod)
    if wanted and demand.are_ports_taken(wanted, place.pods):
        yield "node(s) didn't have free ports for the requested pod ports"


def _room(pod: Pod, place: Place, _: Cluster) -> Iterator[str]:
    offered = place.offered
    if len(place.pods) + 1 > offered.get("pods", ZERO).value():
        yield "Too many pods"
    taken = place.taken
    for name, amount in sorted(demand.of_pod(pod).items()):
        if amount and taken.get(name, ZERO) + amount > offered.get(name, ZERO):
            yield f"Insufficient {name}"


def _exclusive_claims(pod: Pod, _: Place, cluster: Cluster) -> Iterator[str]:
    mine = storage.exclusive(pod, cluster.storage)
    if mine and any(
        mine.intersection(storage.claim_keys(other))
        for there in cluster.places
        for other in there.pods
    ):
        yield (
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
            "already in-use by another pod"
        )


def _volumes(pod: Pod, place: Place, cluster: Cluster) -> Iterator[str]:
    yield from storage.reasons(pod, place.node, cluster.storage)


# Neighbours


def _neighbours(pod: Pod, place: Place, cluster: Cluster) -> Iterator[str]:
    terms = wishes.required_neighbours(pod)
    are_near = all(is_near(term, pod, place, cluster) for term in terms)
    if not are_near and not is_first(pod, place, terms, cluster):
        yield "node(s) didn't match pod affinity rules"
    elif any(is_near(term, pod, place, cluster) for term in wishes.refused_neighbours(pod)):
        yield "node(s) didn't match pod anti-affinity rules"
    elif any(
        means(term, other, pod, cluster) and is_same_place(term, there, place)
        for there in cluster.places
        for other in there.pods
        for term in wishes.refused_neighbours(other)
    ):
        yield "node(s) didn't satisfy existing pods anti-affinity rules"


_Look = Callable[[Pod, Place, Cluster], Iterator[str]]
_LOOKS: Final[Sequence[_Look]] = (
    *(_cordoned, _named, _tainted, _elsewhere, _ports, _room),
    *(_exclusive_claims, _volumes, spreading.reasons, _neighbours),
)
