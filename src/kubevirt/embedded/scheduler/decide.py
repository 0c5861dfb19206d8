"""The decision: a node for a pod, or why there is none, in the words of Kubernetes' scheduler."""

from collections import Counter

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.scheduler import fits, scores, storage
from kubevirt.embedded.scheduler.cluster import Cluster


class Chosen(msgspec.Struct, frozen=True):
    node: str


class Nowhere(msgspec.Struct, frozen=True):
    message: str


def decide(pod: Pod, cluster: Cluster) -> Chosen | Nowhere:
    """The same for the same cluster, in whatever order its nodes come."""
    if not cluster.places:
        return Nowhere("no nodes available to schedule pods")
    if trouble := storage.trouble(pod, cluster.storage):
        return Nowhere(f"0/{len(cluster.places)} nodes are available: {trouble}.")
    found = {place.name: fits.reasons(pod, place, cluster) for place in cluster.places}
    possible = [place for place in cluster.places if not found[place.name]]
    if not possible:
        return Nowhere(_message(list(found.values())))
    if len(possible) == 1:
        return Chosen(possible[0].name)
    # Names break ties, the first in order wins.
    in_order = sorted(possible, key=lambda place: place.name)
    best = max(in_order, key=lambda place: scores.score(pod, place, cluster))
    return Chosen(best.name)


def _message(reasons: list[list[str]]) -> str:
    """How many nodes have each reason, sorted as text: "10 …" stands before "2 …"."""
    total = len(reasons)
    counts = Counter(reason for node in reasons for reason in node)
    told = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f"0/{total} nodes are available: {told}."


def in_turn(pods: list[Pod]) -> list[Pod]:
    """Who is looked at first: the more important, then the older."""
    return sorted(
        pods,
        key=lambda pod: (
            -(spec_of(pod).priority or 0),
            str(pod.metadata.creation_timestamp or ""),
            pod.metadata.namespace or "",
            pod.metadata.name or "",
        ),
    )
