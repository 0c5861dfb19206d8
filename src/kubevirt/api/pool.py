"""VirtualMachinePool: a number of machines from one template."""

from datetime import datetime
from typing import Annotated

from kubevirt.api.core.scheduling import NodeSelectorRequirement
from kubevirt.api.machine import VirtualMachineSpec
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import ATOMIC, Duration, Int32, Int64, IntOrString, Struct


class VirtualMachineOpportunisticUpdateStrategy(Struct, frozen=True, kw_only=True):
    """…"""


class VirtualMachinePoolAutohealingStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    min_failing_to_start_duration: Duration | None = None
    start_up_failure_threshold: Int64 | None = None


class VirtualMachinePoolCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class VirtualMachinePoolNameGeneration(Struct, frozen=True, kw_only=True):
    """…"""

    append_index_to_config_map_refs: bool | None = None
    append_index_to_secret_refs: bool | None = None


class VirtualMachinePoolSelectors(Struct, frozen=True, kw_only=True):
    """…"""

    label_selector: LabelSelector | None = None
    node_selector_requirement_matcher: tuple[NodeSelectorRequirement, ...] = ()


class VirtualMachinePoolSelectionPolicy(Struct, frozen=True, kw_only=True):
    """…"""

    selectors: VirtualMachinePoolSelectors | None = None
    sort_policy: str | None = None


class VirtualMachinePoolOpportunisticScaleInStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    state_preservation: str | None = None


class VirtualMachinePoolProactiveScaleInStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    selection_policy: VirtualMachinePoolSelectionPolicy | None = None
    state_preservation: str | None = None


class VirtualMachinePoolUnmanagedStrategy(Struct, frozen=True, kw_only=True):
    """…"""


class VirtualMachinePoolScaleInStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    opportunistic: VirtualMachinePoolOpportunisticScaleInStrategy | None = None
    proactive: VirtualMachinePoolProactiveScaleInStrategy | None = None
    unmanaged: VirtualMachinePoolUnmanagedStrategy | None = None


class VirtualMachinePoolProactiveUpdateStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    selection_policy: VirtualMachinePoolSelectionPolicy | None = None


class VirtualMachinePoolUpdateStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    opportunistic: VirtualMachineOpportunisticUpdateStrategy | None = None
    proactive: VirtualMachinePoolProactiveUpdateStrategy | None = None
    unmanaged: VirtualMachinePoolUnmanagedStrategy | None = None


class VirtualMachineTemplateSpec(Struct, frozen=True, kw_only=True):
    """…"""

    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSpec | None = None


class VirtualMachinePoolSpec(Struct, frozen=True, kw_only=True):
    """…"""

    autohealing: VirtualMachinePoolAutohealingStrategy | None = None
    max_unavailable: IntOrString | None = None
    name_generation: VirtualMachinePoolNameGeneration | None = None
    paused: bool | None = None
    replicas: Int32 | None = None
    scale_in_strategy: VirtualMachinePoolScaleInStrategy | None = None
    selector: LabelSelector
    update_strategy: VirtualMachinePoolUpdateStrategy | None = None
    virtual_machine_template: VirtualMachineTemplateSpec


class VirtualMachinePoolStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: Annotated[tuple[VirtualMachinePoolCondition, ...], ATOMIC] = ()
    label_selector: str | None = None
    ready_replicas: Int32 | None = None
    replicas: Int32 | None = None


class VirtualMachinePool(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachinePoolSpec
    status: VirtualMachinePoolStatus = VirtualMachinePoolStatus()
