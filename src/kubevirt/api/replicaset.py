"""VirtualMachineInstanceReplicaSet: a number of equal instances."""

from datetime import datetime
from typing import Annotated

from kubevirt.api.instance import VirtualMachineInstanceTemplateSpec
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import NULLABLE, Int32, Struct


class VirtualMachineInstanceReplicaSetCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the set's state."""

    type: str
    """ReplicaPaused or ReplicaFailure."""
    last_probe_time: Annotated[datetime | None, NULLABLE] = None
    """When it was last checked."""
    last_transition_time: Annotated[datetime | None, NULLABLE] = None
    """When status last changed."""
    message: str | None = None
    """Details for people."""
    reason: str | None = None
    """Cause in one CamelCase word."""
    status: str
    """True, False or Unknown."""


class VirtualMachineInstanceReplicaSetSpec(Struct, frozen=True, kw_only=True):
    """How many instances, and what they are like."""

    paused: bool | None = None
    """Stops the set from creating and deleting instances."""
    replicas: Int32 | None = None
    """Instances to keep; default 1."""
    selector: LabelSelector
    """Instances that count; must fit the template's labels."""
    template: VirtualMachineInstanceTemplateSpec
    """The instance to create; its name is derived from the set's."""


class VirtualMachineInstanceReplicaSetStatus(Struct, frozen=True, kw_only=True):
    """How many instances there are."""

    conditions: tuple[VirtualMachineInstanceReplicaSetCondition, ...] = ()
    """State in detail."""
    label_selector: str | None = None
    """The selector as text, for autoscalers."""
    ready_replicas: Int32 | None = None
    """Instances that are ready."""
    replicas: Int32 | None = None
    """Instances that are not final."""


class VirtualMachineInstanceReplicaSet(Struct, frozen=True, kw_only=True):
    """Keeps a number of equal instances running and replaces those that end."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstanceReplicaSetSpec
    """Instances wanted."""
    status: Annotated[VirtualMachineInstanceReplicaSetStatus, NULLABLE] = (
        VirtualMachineInstanceReplicaSetStatus()
    )
    """Instances found."""
