"""Where a pod may run: affinity, tolerations, spread, priority."""

from typing import Annotated

from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import ATOMIC, Int32, Int64, Struct


class NodeSelectorRequirement(Struct, frozen=True, kw_only=True):
    """…"""

    key: str
    operator: str
    values: Annotated[tuple[str, ...], ATOMIC] = ()


class NodeSelectorTerm(Struct, frozen=True, kw_only=True):
    """…"""

    match_expressions: Annotated[tuple[NodeSelectorRequirement, ...], ATOMIC] = ()
    match_fields: Annotated[tuple[NodeSelectorRequirement, ...], ATOMIC] = ()


class NodeSelector(Struct, frozen=True, kw_only=True):
    """…"""

    node_selector_terms: Annotated[tuple[NodeSelectorTerm, ...], ATOMIC]


class PreferredSchedulingTerm(Struct, frozen=True, kw_only=True):
    """…"""

    preference: NodeSelectorTerm
    weight: Int32


class NodeAffinity(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[PreferredSchedulingTerm, ...], ATOMIC
    ] = ()
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class PodAffinityTerm(Struct, frozen=True, kw_only=True):
    """…"""

    label_selector: LabelSelector | None = None
    match_label_keys: Annotated[tuple[str, ...], ATOMIC] = ()
    mismatch_label_keys: Annotated[tuple[str, ...], ATOMIC] = ()
    namespace_selector: LabelSelector | None = None
    namespaces: Annotated[tuple[str, ...], ATOMIC] = ()
    topology_key: str


class WeightedPodAffinityTerm(Struct, frozen=True, kw_only=True):
    """…"""

    pod_affinity_term: PodAffinityTerm
    weight: Int32


class PodAffinity(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[WeightedPodAffinityTerm, ...], ATOMIC
    ] = ()
    required_during_scheduling_ignored_during_execution: Annotated[
        tuple[PodAffinityTerm, ...], ATOMIC
    ] = ()


class PodAntiAffinity(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[WeightedPodAffinityTerm, ...], ATOMIC
    ] = ()
    required_during_scheduling_ignored_during_execution: Annotated[
        tuple[PodAffinityTerm, ...], ATOMIC
    ] = ()


class Affinity(Struct, frozen=True, kw_only=True):
    """…"""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Toleration(Struct, frozen=True, kw_only=True):
    """…"""

    effect: str | None = None
    key: str | None = None
    operator: str | None = None
    toleration_seconds: Int64 | None = None
    value: str | None = None


class TopologySpreadConstraint(Struct, frozen=True, kw_only=True):
    """…"""

    label_selector: LabelSelector | None = None
    match_label_keys: Annotated[tuple[str, ...], ATOMIC] = ()
    max_skew: Int32
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    topology_key: str
    when_unsatisfiable: str


class PriorityClass(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    description: str | None = None
    global_default: bool | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    preemption_policy: str | None = None
    value: Int32
