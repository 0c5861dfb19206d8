"""How evenly pods are spread over parts of the cluster, as a pod says that they have to be, or should be.

A part is all nodes with the same value of a label: with `kubernetes.io/hostname` each node is one. Counted are the pods
of its own namespace that a constraint selects and that are not going.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubevirt.api.core.pod import Pod
from kubevirt.api.core.scheduling import TopologySpreadConstraint
from kubevirt.api.meta import LabelSelector
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.objects.selecting import narrowed, selects
from kubevirt.embedded.scheduler import wishes
from kubevirt.embedded.scheduler.cluster import Cluster, Place
from kubevirt.embedded.scheduler.tolerations import keeps_out

UNEVEN: Final = "node(s) didn't match pod topology spread constraints"
NO_PART: Final = f"{UNEVEN} (missing required label)"

Constraints = Sequence[TopologySpreadConstraint]


def reasons(pod: Pod, place: Place, cluster: Cluster) -> Iterator[str]:
    """The first constraint that the pod would break there."""
    constraints = wishes.required_spread(pod)
    for each in constraints:
        part = place.node.metadata.labels.get(each.topology_key)
        if part is None:
            yield NO_PART
            return
        found = _counts(each, pod, constraints, cluster)
        itself = selects(_selector(each, pod), pod.metadata.labels)
        if found.get(part, 0) + itself - _least(each, found) > each.max_skew:
            yield UNEVEN
            return


def crowd(pod: Pod, place: Place, cluster: Cluster) -> int:
    """How many are there already of those that should be spread, for who would rather have them apart."""
    constraints = wishes.preferred_spread(pod)
    return sum(_crowd(each, pod, place, constraints, cluster) for each in constraints)


def _crowd(
    constraint: TopologySpreadConstraint,
    pod: Pod,
    place: Place,
    constraints: Constraints,
    cluster: Cluster,
) -> int:
    found = _counts(constraint, pod, constraints, cluster)
    part = place.node.metadata.labels.get(constraint.topology_key)
    # Who belongs to no part is worse than the fullest one.
    return max(found.values(), default=0) + 1 if part is None else found.get(part, 0)


def _counts(
    constraint: TopologySpreadConstraint, pod: Pod, constraints: Constraints, cluster: Cluster
) -> Mapping[str, int]:
    """By part, also those without any. A node belongs to parts only if it has the labels of all constraints."""
    selector = _selector(constraint, pod)
    found: Counter[str] = Counter()
    for place in cluster.places:
        labels = place.node.metadata.labels
        has_parts = all(each.topology_key in labels for each in constraints)
        if has_parts and _counts_node(constraint, pod, place):
            found[labels[constraint.topology_key]] += sum(
                _counts_pod(selector, pod, other) for other in place.pods
            )
    return found


def _counts_node(constraint: TopologySpreadConstraint, pod: Pod, place: Place) -> bool:
    heeds_affinity = (constraint.node_affinity_policy or "Honor") == "Honor"
    heeds_taints = constraint.node_taints_policy == "Honor"
    return not (
        (heeds_affinity and not wishes.takes_node(pod, place.node))
        or (heeds_taints and keeps_out(place.node, spec_of(pod).tolerations))
    )


def _counts_pod(selector: LabelSelector | None, pod: Pod, other: Pod) -> bool:
    # Kubernetes counts none for an empty selector, which picks all elsewhere.
    is_empty = selector is None or not (selector.match_labels or selector.match_expressions)
    return (
        not is_empty
        and other.metadata.namespace == pod.metadata.namespace
        and other.metadata.deletion_timestamp is None
        and selects(selector, other.metadata.labels)
    )


def _least(constraint: TopologySpreadConstraint, found: Mapping[str, int]) -> int:
    """In any part. While there are fewer parts than there should be, one that is yet to come is empty."""
    return 0 if len(found) < (constraint.min_domains or 1) else min(found.values())


def _selector(constraint: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    return narrowed(
        constraint.label_selector, pod.metadata.labels, same=constraint.match_label_keys
    )
