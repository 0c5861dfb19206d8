"""Which of the nodes that a pod fits on is the better one: its wishes first, then the emptier one."""

from kubevirt.api.core.pod import Pod
from kubevirt.base.quantity import ZERO
from kubevirt.embedded.objects.selecting import term_selects
from kubevirt.embedded.scheduler import demand, wishes
from kubevirt.embedded.scheduler.cluster import Cluster, Place
from kubevirt.embedded.scheduler.neighbours import is_near
from kubevirt.embedded.scheduler.spreading import crowd


def score(pod: Pod, place: Place, cluster: Cluster) -> tuple[int, float]:
    """The larger, the better."""
    wished = _wishes(pod, place) + _company(pod, place, cluster)
    return wished - crowd(pod, place, cluster), _free_share(pod, place)


def _wishes(pod: Pod, place: Place) -> int:
    preferred = wishes.preferred_nodes(pod)
    avoided = sum(taint.effect == "PreferNoSchedule" for taint in place.node.spec.taints)
    return (
        sum(each.weight for each in preferred if term_selects(each.preference, place.node))
        - avoided
    )


def _company(pod: Pod, place: Place, cluster: Cluster) -> int:
    """Of pods that it would like near it, less those that it would rather not have there."""
    liked, disliked = (
        sum(each.weight for each in terms if is_near(each.pod_affinity_term, pod, place, cluster))
        for terms in (wishes.preferred_neighbours(pod), wishes.avoided_neighbours(pod))
    )
    return liked - disliked


def _free_share(pod: Pod, place: Place) -> float:
    """Of processor and memory, with the pod on it."""
    offered = place.offered
    used = demand.added((place.taken, demand.of_pod(pod)))
    shares = [
        1 - used.get(name, ZERO).nanos / offered[name].nanos
        for name in ("cpu", "memory")
        if offered.get(name, ZERO)
    ]
    return sum(shares) / len(shares) if shares else 0.0
