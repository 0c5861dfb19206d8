"""What a pod says about where it wants to run, without the many ways of saying nothing."""

from collections.abc import Sequence

from kubevirt.api.core.pod import Pod
from kubevirt.api.core.scheduling import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredSchedulingTerm,
    WeightedPodAffinityTerm,
)
from kubevirt.embedded.scheduler.demand import spec_of

_NONE = Affinity()


def _affinity(pod: Pod) -> Affinity:
    return spec_of(pod).affinity or _NONE


def required_nodes(pod: Pod) -> Sequence[NodeSelectorTerm] | None:
    """One of these; None if any node will do."""
    found = _affinity(pod).node_affinity
    asked = found.required_during_scheduling_ignored_during_execution if found else None
    return asked.node_selector_terms if asked else None


def preferred_nodes(pod: Pod) -> Sequence[PreferredSchedulingTerm]:
    found = _affinity(pod).node_affinity
    return found.preferred_during_scheduling_ignored_during_execution if found else ()


def required_neighbours(pod: Pod) -> Sequence[PodAffinityTerm]:
    found = _affinity(pod).pod_affinity
    return found.required_during_scheduling_ignored_during_execution if found else ()


def refused_neighbours(pod: Pod) -> Sequence[PodAffinityTerm]:
    found = _affinity(pod).pod_anti_affinity
    return found.required_during_scheduling_ignored_during_execution if found else ()


def preferred_neighbours(pod: Pod) -> Sequence[WeightedPodAffinityTerm]:
    found = _affinity(pod).pod_affinity
    return found.preferred_during_scheduling_ignored_during_execution if found else ()


def avoided_neighbours(pod: Pod) -> Sequence[WeightedPodAffinityTerm]:
    found = _affinity(pod).pod_anti_affinity
    return found.preferred_during_scheduling_ignored_during_execution if found else ()
