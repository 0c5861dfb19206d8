"""VirtualMachineInstanceReplicaSet: a number of equal instances."""

from datetime import datetime

from kubevirt.api.instance import VirtualMachineInstanceTemplateSpec
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import Int32, Struct


class VirtualMachineInstanceReplicaSetCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class VirtualMachineInstanceReplicaSetSpec(Struct, frozen=True, kw_only=True):
    """…"""

    paused: bool | None = None
    replicas: Int32 | None = None
    selector: LabelSelector
    template: VirtualMachineInstanceTemplateSpec


class VirtualMachineInstanceReplicaSetStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: tuple[VirtualMachineInstanceReplicaSetCondition, ...] = ()
    label_selector: str | None = None
    ready_replicas: Int32 | None = None
    replicas: Int32 | None = None


class VirtualMachineInstanceReplicaSet(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstanceReplicaSetSpec
    status: VirtualMachineInstanceReplicaSetStatus = VirtualMachineInstanceReplicaSetStatus()
