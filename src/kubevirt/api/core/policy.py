"""What may be taken down, and when."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from kubevirt.api.core.options import DeleteOptions
from kubevirt.api.meta import Condition, LabelSelector, ObjectMeta
from kubevirt.api.struct import NO_ENTRIES, Int32, Int64, IntOrString, Struct, list_map


class PodDisruptionBudgetSpec(Struct, frozen=True, kw_only=True):
    """How many pods must stay, or may go; the two exclude each other."""

    max_unavailable: IntOrString | None = None
    min_available: IntOrString | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Struct, frozen=True, kw_only=True):
    """How many pods may go right now."""

    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    current_healthy: Int32
    desired_healthy: Int32
    disrupted_pods: Mapping[str, datetime] = NO_ENTRIES
    disruptions_allowed: Int32
    expected_pods: Int32
    observed_generation: Int64 | None = None


class PodDisruptionBudget(Struct, frozen=True, kw_only=True):
    """Limits how many pods evictions take down at once."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus | None = None


class Eviction(Struct, frozen=True, kw_only=True):
    """Body of pods/eviction: a deletion that heeds budgets and KubeVirt's webhook."""

    api_version: str | None = None
    delete_options: DeleteOptions | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
