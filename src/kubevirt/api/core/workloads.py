"""Sets of pods, and the revisions of their templates."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from kubevirt.api.core.pod import PodTemplateSpec
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import NO_ENTRIES, Int32, Int64, IntOrString, Struct, list_map


class ControllerRevision(Struct, frozen=True, kw_only=True):
    """An unchangeable copy of some state, such as the spec a machine was started from."""

    api_version: str | None = None
    data: Mapping[str, Any] = NO_ENTRIES
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    revision: Int64


class RollingUpdateDeployment(Struct, frozen=True, kw_only=True):
    """How many pods may be missing or surplus during an update."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class DeploymentStrategy(Struct, frozen=True, kw_only=True):
    """How old pods are replaced: RollingUpdate or Recreate."""

    type: str | None = None
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(Struct, frozen=True, kw_only=True):
    """How many pods, and what they are like."""

    min_ready_seconds: Int32 | None = None
    paused: bool | None = None
    progress_deadline_seconds: Int32 | None = None
    replicas: Int32 | None = None
    revision_history_limit: Int32 | None = None
    selector: LabelSelector
    strategy: DeploymentStrategy | None = None
    template: PodTemplateSpec


class DeploymentCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the deployment's state, such as Available."""

    type: str
    last_transition_time: datetime | None = None
    last_update_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class DeploymentStatus(Struct, frozen=True, kw_only=True):
    """How many pods there are, and how far an update is."""

    available_replicas: Int32 | None = None
    collision_count: Int32 | None = None
    conditions: Annotated[tuple[DeploymentCondition, ...], list_map("type")] = ()
    observed_generation: Int64 | None = None
    ready_replicas: Int32 | None = None
    replicas: Int32 | None = None
    terminating_replicas: Int32 | None = None
    unavailable_replicas: Int32 | None = None
    updated_replicas: Int32 | None = None


class Deployment(Struct, frozen=True, kw_only=True):
    """Keeps a number of like pods and updates them in steps."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: DeploymentSpec | None = None
    status: DeploymentStatus = DeploymentStatus()


class RollingUpdateDaemonSet(Struct, frozen=True, kw_only=True):
    """How many nodes may be without a pod, or have two, during an update."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class DaemonSetUpdateStrategy(Struct, frozen=True, kw_only=True):
    """How old pods are replaced: RollingUpdate or OnDelete."""

    type: str | None = None
    rolling_update: RollingUpdateDaemonSet | None = None


class DaemonSetSpec(Struct, frozen=True, kw_only=True):
    """The pod of each node."""

    min_ready_seconds: Int32 | None = None
    revision_history_limit: Int32 | None = None
    selector: LabelSelector
    template: PodTemplateSpec
    update_strategy: DaemonSetUpdateStrategy | None = None


class DaemonSetCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the daemon set's state."""

    type: str
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class DaemonSetStatus(Struct, frozen=True, kw_only=True):
    """How many nodes should have a pod, and do."""

    collision_count: Int32 | None = None
    conditions: Annotated[tuple[DaemonSetCondition, ...], list_map("type")] = ()
    current_number_scheduled: Int32
    desired_number_scheduled: Int32
    number_available: Int32 | None = None
    number_misscheduled: Int32
    number_ready: Int32
    number_unavailable: Int32 | None = None
    observed_generation: Int64 | None = None
    updated_number_scheduled: Int32 | None = None


class DaemonSet(Struct, frozen=True, kw_only=True):
    """Keeps one pod on each node that fits, as virt-handler needs."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec | None = None
    status: DaemonSetStatus | None = None
