"""VirtualMachinePool: a number of machines from one template."""

from datetime import datetime
from typing import Annotated

from kubevirt.api.core.scheduling import NodeSelectorRequirement
from kubevirt.api.machine import VirtualMachineSpec
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import (
    ATOMIC,
    NULLABLE,
    Duration,
    Int32,
    IntOrString,
    Struct,
    enum,
    mark,
)


class VirtualMachineOpportunisticUpdateStrategy(Struct, frozen=True, kw_only=True):
    """Empty: its presence is the choice."""


class VirtualMachinePoolAutohealingStrategy(Struct, frozen=True, kw_only=True):
    """When a machine that does not start is replaced by a fresh one."""

    min_failing_to_start_duration: Duration | None = None
    """How long it must have been failing; default 5m."""
    start_up_failure_threshold: Annotated[Int32 | None, mark(minimum=1)] = None
    """Failed starts in a row that it takes; default 3."""


class VirtualMachinePoolCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the pool's state."""

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


class VirtualMachinePoolNameGeneration(Struct, frozen=True, kw_only=True):
    """Which names get the machine's index appended."""

    append_index_to_config_map_refs: bool | None = None
    """Each machine reads its own ConfigMap, name-index; default false."""
    append_index_to_secret_refs: bool | None = None
    """Each machine reads its own Secret, name-index; default false."""


class VirtualMachinePoolSelectors(Struct, frozen=True, kw_only=True):
    """Machines to take first; with both set, both must match."""

    label_selector: LabelSelector | None = None
    """Machines with these labels."""
    node_selector_requirement_matcher: tuple[NodeSelectorRequirement, ...] = ()
    """Machines on nodes with these labels."""


class VirtualMachinePoolSelectionPolicy(Struct, frozen=True, kw_only=True):
    """Which machines come first."""

    selectors: VirtualMachinePoolSelectors | None = None
    """Machines that match go before the others."""
    sort_policy: Annotated[
        str | None, enum("AscendingOrder", "DescendingOrder", "Newest", "Oldest", "Random")
    ] = None
    """Order: Random (default), Oldest, Newest, AscendingOrder or DescendingOrder, by index."""


class VirtualMachinePoolOpportunisticScaleInStrategy(Struct, frozen=True, kw_only=True):
    """Shrinking that waits for others."""

    state_preservation: Annotated[str | None, enum("Disabled", "Offline", "Online")] = None
    """Kept for reuse: Disabled (nothing, default), Offline (claims), Online (claims and memory)."""


class VirtualMachinePoolProactiveScaleInStrategy(Struct, frozen=True, kw_only=True):
    """Shrinking that shuts machines down."""

    selection_policy: VirtualMachinePoolSelectionPolicy | None = None
    """Which machines go first."""
    state_preservation: Annotated[str | None, enum("Disabled", "Offline", "Online")] = None
    """Kept for reuse: Disabled (nothing, default), Offline (claims), Online (claims and memory)."""


class VirtualMachinePoolUnmanagedStrategy(Struct, frozen=True, kw_only=True):
    """Empty: its presence is the choice."""


class VirtualMachinePoolScaleInStrategy(Struct, frozen=True, kw_only=True):
    """How the pool shrinks: one of the three."""

    opportunistic: VirtualMachinePoolOpportunisticScaleInStrategy | None = None
    """Only as others delete machines."""
    proactive: VirtualMachinePoolProactiveScaleInStrategy | None = None
    """Shuts down and deletes machines at once; the default."""
    unmanaged: VirtualMachinePoolUnmanagedStrategy | None = None
    """Never deletes a machine; that is left to you."""


class VirtualMachinePoolProactiveUpdateStrategy(Struct, frozen=True, kw_only=True):
    """Updates that restart guests."""

    selection_policy: VirtualMachinePoolSelectionPolicy | None = None
    """Which machines go first."""


class VirtualMachinePoolUpdateStrategy(Struct, frozen=True, kw_only=True):
    """How a new template reaches machines: one of the three."""

    opportunistic: VirtualMachineOpportunisticUpdateStrategy | None = None
    """Machines change at once, guests when they next restart."""
    proactive: VirtualMachinePoolProactiveUpdateStrategy | None = None
    """Guests are restarted too, as maxUnavailable allows; the default."""
    unmanaged: VirtualMachinePoolUnmanagedStrategy | None = None
    """Existing machines stay as they are."""


class VirtualMachineTemplateSpec(Struct, frozen=True, kw_only=True):
    """The machine to create."""

    metadata: ObjectMeta = ObjectMeta()
    """Labels and annotations of the machines; names come from the pool."""
    spec: VirtualMachineSpec | None = None
    """The machine."""


class VirtualMachinePoolSpec(Struct, frozen=True, kw_only=True):
    """How many machines, and what they are like."""

    autohealing: VirtualMachinePoolAutohealingStrategy | None = None
    """Replaces machines that do not start; off if not set."""
    max_unavailable: IntOrString | None = None
    """Machines not ready at once during an update, number or percentage; default 100%."""
    name_generation: VirtualMachinePoolNameGeneration | None = None
    """Which names get the machine's index appended."""
    paused: bool | None = None
    """Stops the pool from acting."""
    replicas: Annotated[Int32 | None, mark(minimum=0)] = None
    """Machines to keep; default 1."""
    scale_in_strategy: VirtualMachinePoolScaleInStrategy | None = None
    """How the pool shrinks."""
    selector: LabelSelector
    """Machines that belong to the pool; must fit the template's labels, never changes."""
    update_strategy: VirtualMachinePoolUpdateStrategy | None = None
    """How a new template reaches machines."""
    virtual_machine_template: VirtualMachineTemplateSpec
    """The machine to create, named after the pool with an index."""


class VirtualMachinePoolStatus(Struct, frozen=True, kw_only=True):
    """How many machines there are."""

    conditions: Annotated[tuple[VirtualMachinePoolCondition, ...], ATOMIC] = ()
    """State in detail."""
    label_selector: str | None = None
    """The selector as text, for autoscalers."""
    ready_replicas: Int32 | None = None
    """Machines that are ready."""
    replicas: Int32 | None = None
    """Machines that exist."""


class VirtualMachinePool(Struct, frozen=True, kw_only=True):
    """Keeps a number of like machines, numbered from 0."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachinePoolSpec
    """Machines wanted."""
    status: VirtualMachinePoolStatus = VirtualMachinePoolStatus()
    """Machines found."""
