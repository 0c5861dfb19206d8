"""Live migration: the request, and its state on an instance."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.migration_options import VMIMConfigurationOptions
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, NULLABLE, Int32, Quantity, Struct


class VirtualMachineInstanceMigrationCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the migration's state."""

    type: str
    """Aspect, such as migrationAbortRequested."""
    last_probe_time: Annotated[datetime | None, NULLABLE] = None
    """When the aspect was last checked."""
    last_transition_time: Annotated[datetime | None, NULLABLE] = None
    """When status last changed."""
    message: str | None = None
    """Explanation for people."""
    reason: str | None = None
    """Explanation for programs, in one word."""
    status: str
    """True, False or Unknown."""


class VirtualMachineInstanceMigrationPhaseTransitionTimestamp(Struct, frozen=True, kw_only=True):
    """When the migration entered a phase."""

    phase: str | None = None
    """Phase that was entered."""
    phase_transition_timestamp: datetime | None = None
    """When it was entered."""


class VirtualMachineInstanceMigrationSource(Struct, frozen=True, kw_only=True):
    """Sending side of a migration to another namespace or cluster."""

    connect_url: str = field(name="connectURL")
    """Address of the receiver's synchronisation controller."""
    migration_id: str = field(name="migrationID")
    """Identifier that both sides share."""


class VirtualMachineInstanceMigrationTarget(Struct, frozen=True, kw_only=True):
    """Receiving side of a migration from another namespace or cluster."""

    migration_id: str = field(name="migrationID")
    """Identifier that both sides share."""


class VirtualMachineInstanceMigrationSourceState(Struct, frozen=True, kw_only=True):
    """What the sending side reports."""

    domain_name: str | None = None
    """Name of the guest's libvirt domain."""
    domain_namespace: str | None = None
    """Namespace in the domain's name and paths."""
    migration_uid: str | None = field(default=None, name="migrationUID")
    """UID of the sender's migration object."""
    node: str | None = None
    """Node that the guest leaves."""
    node_selectors: Mapping[str, str] = NO_ENTRIES
    """Labels that the receiver's node must have."""
    persistent_state_pvc_name: str | None = field(default=None, name="persistentStatePVCName")
    """PVC with TPM and EFI state."""
    pod: str | None = None
    """Launcher pod that the guest leaves."""
    selinux_context: str | None = None
    """SELinux context of that pod."""
    sync_address: str | None = None
    """Host and port for synchronisation with this side."""
    virtual_machine_instance_uid: str | None = field(default=None, name="virtualMachineInstanceUID")
    """UID of the sender's instance."""


class VirtualMachineInstanceMigrationTargetState(Struct, frozen=True, kw_only=True):
    """What the receiving side reports."""

    attachment_pod_uid: str | None = field(default=None, name="attachmentPodUID")
    """Helper pod for hotplugged volumes."""
    cpu_set: Annotated[tuple[Int32, ...], ATOMIC] = ()
    """Dedicated CPUs of the target node."""
    direct_migration_node_ports: Mapping[str, Int32] = NO_ENTRIES
    """Ports opened on the target node, with what each serves."""
    domain_detected: bool | None = None
    """Whether the guest's domain has appeared on the target."""
    domain_name: str | None = None
    """Name of the guest's libvirt domain."""
    domain_namespace: str | None = None
    """Namespace in the domain's name and paths."""
    domain_ready_timestamp: datetime | None = None
    """When the domain became active on the target."""
    migration_uid: str | None = field(default=None, name="migrationUID")
    """UID of the receiver's migration object."""
    node: str | None = None
    """Node that the guest moves to."""
    node_address: str | None = None
    """Address of that node for the transfer."""
    node_topology: str | None = None
    """NUMA layout of that node as JSON, for dedicated CPUs."""
    persistent_state_pvc_name: str | None = field(default=None, name="persistentStatePVCName")
    """PVC for TPM and EFI state."""
    pod: str | None = None
    """Launcher pod that the guest moves to."""
    selinux_context: str | None = None
    """SELinux context of that pod."""
    sync_address: str | None = None
    """Host and port for synchronisation with this side."""
    virtual_machine_instance_uid: str | None = field(default=None, name="virtualMachineInstanceUID")
    """UID of the receiver's instance."""


class VirtualMachineInstanceMigrationState(Struct, frozen=True, kw_only=True):
    """Course of the current or latest migration."""

    abort_requested: bool | None = None
    """Whether cancellation was asked for."""
    abort_status: str | None = None
    """Course of the cancellation: Aborting, Succeeded or Failed."""
    completed: bool | None = None
    """Whether it has ended."""
    end_timestamp: Annotated[datetime | None, NULLABLE] = None
    """When it ended."""
    failed: bool | None = None
    """Whether it failed."""
    failure_reason: str | None = None
    """Why it failed."""
    migration_configuration: VMIMConfigurationOptions | None = None
    """Settings in effect, cluster and policy combined."""
    migration_network_type: str | None = None
    """Network of the transfer: pod or migration."""
    migration_policy_name: str | None = None
    """MigrationPolicy in effect; empty if none matches."""
    migration_uid: str | None = None
    """UID of the migration object."""
    mode: str | None = None
    """PreCopy, PostCopy or Paused."""
    source_node: str | None = None
    """Node that the guest leaves."""
    source_persistent_state_pvc_name: str | None = field(
        default=None, name="sourcePersistentStatePVCName"
    )
    """PVC with TPM and EFI state on the sending side."""
    source_pod: str | None = None
    """Launcher pod that the guest leaves."""
    source_state: VirtualMachineInstanceMigrationSourceState | None = None
    """Report of the sending side."""
    start_timestamp: Annotated[datetime | None, NULLABLE] = None
    """When the transfer began."""
    target_attachment_pod_uid: str | None = field(default=None, name="targetAttachmentPodUID")
    """Helper pod for hotplugged volumes on the target."""
    target_cpu_set: Annotated[tuple[Int32, ...], ATOMIC] = field(default=(), name="targetCPUSet")
    """Dedicated CPUs of the target node."""
    target_direct_migration_node_ports: Mapping[str, Int32] = NO_ENTRIES
    """Ports opened on the target node, with what each serves."""
    target_memory_overhead: Quantity | None = None
    """What the target's launcher takes besides the guest's memory."""
    target_node: str | None = None
    """Node that the guest moves to."""
    target_node_address: str | None = None
    """Address of that node for the transfer."""
    target_node_domain_detected: bool | None = None
    """Whether the guest's domain has appeared on the target."""
    target_node_domain_ready_timestamp: datetime | None = None
    """When the domain became active on the target."""
    target_node_topology: str | None = None
    """NUMA layout of the target node as JSON, for dedicated CPUs."""
    target_persistent_state_pvc_name: str | None = field(
        default=None, name="targetPersistentStatePVCName"
    )
    """PVC for TPM and EFI state on the receiving side."""
    target_pod: str | None = None
    """Launcher pod that the guest moves to."""
    target_state: VirtualMachineInstanceMigrationTargetState | None = None
    """Report of the receiving side."""


class VirtualMachineInstanceMigrationSpec(Struct, frozen=True, kw_only=True):
    """Which guest to move, and how; cannot be changed later."""

    added_node_selector: Mapping[str, str] = NO_ENTRIES
    """Further labels the target node must have; the instance's own selector wins on conflict."""
    priority: str | None = None
    """system-critical, user-triggered or system-maintenance; set by virt-controller only."""
    receive: VirtualMachineInstanceMigrationTarget | None = None
    """Makes this the receiving half of a decentralised migration."""
    send_to: VirtualMachineInstanceMigrationSource | None = None
    """Makes this the sending half of a decentralised migration."""
    vmi_name: str | None = None
    """Instance in this namespace to migrate."""


class VirtualMachineInstanceMigrationStatus(Struct, frozen=True, kw_only=True):
    """Course of the migration."""

    conditions: tuple[VirtualMachineInstanceMigrationCondition, ...] = ()
    """Single aspects, such as a requested cancellation."""
    migration_state: VirtualMachineInstanceMigrationState | None = None
    """Details of the transfer."""
    phase: str | None = None
    """Pending, Scheduling, Scheduled, PreparingTarget, TargetReady, Running, Succeeded, Failed, ...
    """
    phase_transition_timestamps: Annotated[
        tuple[VirtualMachineInstanceMigrationPhaseTransitionTimestamp, ...], ATOMIC
    ] = ()
    """When each phase was entered."""
    synchronization_addresses: Annotated[tuple[str, ...], ATOMIC] = ()
    """Addresses with port on which this side can be synchronised with."""


class VirtualMachineInstanceMigration(Struct, frozen=True, kw_only=True):
    """One move of a running guest to another node; delete it to cancel."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstanceMigrationSpec
    """Which guest to move."""
    status: VirtualMachineInstanceMigrationStatus = VirtualMachineInstanceMigrationStatus()
    """How far it has got."""
