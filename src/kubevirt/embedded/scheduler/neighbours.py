"""Which pods are near a place, as pods say whom they want near them and whom not."""

from collections.abc import Sequence

from kubevirt.api.core.pod import Pod
from kubevirt.api.core.scheduling import PodAffinityTerm
from kubevirt.embedded.objects.selecting import narrowed, selects
from kubevirt.embedded.scheduler.cluster import Cluster, Place


def is_near(term: PodAffinityTerm, pod: Pod, place: Place, cluster: Cluster) -> bool:
    return any(
        means(term, pod, other, cluster)
        for there in cluster.places
        if is_same_place(term, there, place)
        for other in there.pods
    )


def is_first(pod: Pod, place: Place, terms: Sequence[PodAffinityTerm], cluster: Cluster) -> bool:
    """The first of pods that want to be near each other has nobody to be near yet."""
    are_alone = not any(
        means(term, pod, other, cluster)
        for term in terms
        for there in cluster.places
        for other in there.pods
    )
    means_itself = all(means(term, pod, pod, cluster) for term in terms)
    has_places = all(term.topology_key in place.node.metadata.labels for term in terms)
    return are_alone and means_itself and has_places


def is_same_place(term: PodAffinityTerm, one: Place, other: Place) -> bool:
    key = term.topology_key
    where = one.node.metadata.labels.get(key)
    return where is not None and where == other.node.metadata.labels.get(key)


def means(term: PodAffinityTerm, owner: Pod, other: Pod, cluster: Cluster) -> bool:
    """Whether `other` is among those that a term of `owner` speaks of."""
    home, namespace = owner.metadata.namespace or "", other.metadata.namespace or ""
    labels = cluster.namespaces.get(namespace, {})
    is_there = (
        namespace in term.namespaces
        or selects(term.namespace_selector, labels)
        or (not term.namespaces and term.namespace_selector is None and namespace == home)
    )
    own = owner.metadata.labels
    selector = narrowed(
        term.label_selector, own, same=term.match_label_keys, other=term.mismatch_label_keys
    )
    return is_there and selects(selector, other.metadata.labels)
