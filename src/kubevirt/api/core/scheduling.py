"""Where a pod may run: affinity, tolerations, spread, priority."""

from typing import Annotated, ClassVar

from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import ATOMIC, ATOMIC_MAP, Int32, Int64, Mark, Struct


class NodeSelectorRequirement(Struct, frozen=True, kw_only=True):
    """One condition on a label or field of a node."""

    key: str
    """Label or field."""
    operator: str
    """Exists, DoesNotExist, In, NotIn, Lt or Gt."""
    values: Annotated[tuple[str, ...], ATOMIC] = ()
    """Operands: several for In and NotIn, one integer for Lt and Gt, otherwise none."""


class NodeSelectorTerm(Struct, frozen=True, kw_only=True):
    """Conditions that must all hold; without any it matches no node."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    match_expressions: Annotated[tuple[NodeSelectorRequirement, ...], ATOMIC] = ()
    """Conditions on labels."""
    match_fields: Annotated[tuple[NodeSelectorRequirement, ...], ATOMIC] = ()
    """Conditions on fields; only metadata.name."""


class NodeSelector(Struct, frozen=True, kw_only=True):
    """Choice of nodes."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    node_selector_terms: Annotated[tuple[NodeSelectorTerm, ...], ATOMIC]
    """Alternatives; one that matches is enough."""


class PreferredSchedulingTerm(Struct, frozen=True, kw_only=True):
    """A wish about nodes."""

    preference: NodeSelectorTerm
    """Nodes that are preferred."""
    weight: Int32
    """Importance, 1 to 100."""


class NodeAffinity(Struct, frozen=True, kw_only=True):
    """Rules about nodes."""

    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[PreferredSchedulingTerm, ...], ATOMIC
    ] = ()
    """Wishes that rank nodes."""
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    """Conditions without which it is not scheduled."""


class PodAffinityTerm(Struct, frozen=True, kw_only=True):
    """A set of pods, and what counts as the same place."""

    label_selector: LabelSelector | None = None
    """Pods meant; none if not set."""
    match_label_keys: Annotated[tuple[str, ...], ATOMIC] = ()
    """Own labels whose values the pods must share."""
    mismatch_label_keys: Annotated[tuple[str, ...], ATOMIC] = ()
    """Own labels whose values the pods must not share."""
    namespace_selector: LabelSelector | None = None
    """Namespaces to look in, by label; {} means all."""
    namespaces: Annotated[tuple[str, ...], ATOMIC] = ()
    """Namespaces to look in, by name; the own one if neither is set."""
    topology_key: str
    """Node label whose value tells places apart, e.g. kubernetes.io/hostname."""


class WeightedPodAffinityTerm(Struct, frozen=True, kw_only=True):
    """A wish about neighbours."""

    pod_affinity_term: PodAffinityTerm
    """Pods meant."""
    weight: Int32
    """Importance, 1 to 100."""


class PodAffinity(Struct, frozen=True, kw_only=True):
    """Rules about pods to be near."""

    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[WeightedPodAffinityTerm, ...], ATOMIC
    ] = ()
    """Wishes that rank nodes."""
    required_during_scheduling_ignored_during_execution: Annotated[
        tuple[PodAffinityTerm, ...], ATOMIC
    ] = ()
    """Conditions that must all hold at scheduling."""


class PodAntiAffinity(Struct, frozen=True, kw_only=True):
    """Rules about pods to stay away from."""

    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[WeightedPodAffinityTerm, ...], ATOMIC
    ] = ()
    """Wishes that rank nodes."""
    required_during_scheduling_ignored_during_execution: Annotated[
        tuple[PodAffinityTerm, ...], ATOMIC
    ] = ()
    """Conditions that must all hold at scheduling."""


class Affinity(Struct, frozen=True, kw_only=True):
    """Rules for choosing a node."""

    node_affinity: NodeAffinity | None = None
    """Nodes to prefer or demand."""
    pod_affinity: PodAffinity | None = None
    """Pods to be near."""
    pod_anti_affinity: PodAntiAffinity | None = None
    """Pods to stay away from."""


class Toleration(Struct, frozen=True, kw_only=True):
    """Taints that are put up with."""

    effect: str | None = None
    """NoSchedule, PreferNoSchedule or NoExecute; all if empty."""
    key: str | None = None
    """Taint key; all if empty, which needs operator Exists."""
    operator: str | None = None
    """Equal (default) or Exists."""
    toleration_seconds: Int64 | None = None
    """Seconds before a NoExecute taint evicts; never if not set."""
    value: str | None = None
    """Taint value, for operator Equal."""


class TopologySpreadConstraint(Struct, frozen=True, kw_only=True):
    """Even distribution of pods over parts of the cluster."""

    label_selector: LabelSelector | None = None
    """Pods that are counted."""
    match_label_keys: Annotated[tuple[str, ...], ATOMIC] = ()
    """Own labels whose values the counted pods must share."""
    max_skew: Int32
    """Largest difference in pods between parts, 1 or more."""
    min_domains: Int32 | None = None
    """Parts there should be; while fewer, the smallest counts as empty. DoNotSchedule only."""
    node_affinity_policy: str | None = None
    """Honor (default) counts only nodes that affinity and selector allow, Ignore all."""
    node_taints_policy: str | None = None
    """Honor skips nodes with taints not tolerated; Ignore (default) counts them."""
    topology_key: str
    """Node label whose value tells parts apart, e.g. topology.kubernetes.io/zone."""
    when_unsatisfiable: str
    """DoNotSchedule to wait, ScheduleAnyway to treat it as a wish."""


class PriorityClass(Struct, frozen=True, kw_only=True):
    """Named scheduling priority."""

    api_version: str | None = None
    description: str | None = None
    global_default: bool | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    preemption_policy: str | None = None
    value: Int32
