"""What a pod says about where it wants to run, without the many ways of saying nothing."""

from collections.abc import Sequence

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.scheduling import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.objects.selecting import term_selects

_NONE = Affinity()


def _affinity(pod: Pod) -> Affinity:
    return spec_of(pod).affinity or _NONE


def takes_node(pod: Pod, node: Node) -> bool:
    """Whether its selector and its affinity allow it."""
    labels, terms = node.metadata.labels, _required_nodes(pod)
    return all(labels.get(key) == value for key, value in spec_of(pod).node_selector.items()) and (
        terms is None or any(term_selects(term, node) for term in terms)
    )


def _required_nodes(pod: Pod) -> Sequence[NodeSelectorTerm] | None:
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


def required_spread(pod: Pod) -> Sequence[TopologySpreadConstraint]:
    return _spread(pod, "DoNotSchedule")


def preferred_spread(pod: Pod) -> Sequence[TopologySpreadConstraint]:
    return _spread(pod, "ScheduleAnyway")


def _spread(pod: Pod, otherwise: str) -> Sequence[TopologySpreadConstraint]:
    found = spec_of(pod).topology_spread_constraints
    return [each for each in found if each.when_unsatisfiable == otherwise]
