"""Live migration: the request, and its state on an instance."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.migration_options import VMIMConfigurationOptions
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Quantity, Struct


class VirtualMachineInstanceMigrationCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class VirtualMachineInstanceMigrationPhaseTransitionTimestamp(Struct, frozen=True, kw_only=True):
    """…"""

    phase: str | None = None
    phase_transition_timestamp: datetime | None = None


class VirtualMachineInstanceMigrationSource(Struct, frozen=True, kw_only=True):
    """…"""

    connect_url: str = field(name="connectURL")
    migration_id: str = field(name="migrationID")


class VirtualMachineInstanceMigrationTarget(Struct, frozen=True, kw_only=True):
    """…"""

    migration_id: str = field(name="migrationID")


class VirtualMachineInstanceMigrationSourceState(Struct, frozen=True, kw_only=True):
    """…"""

    domain_name: str | None = None
    domain_namespace: str | None = None
    migration_uid: str | None = field(default=None, name="migrationUID")
    node: str | None = None
    node_selectors: Mapping[str, str] = NO_ENTRIES
    persistent_state_pvc_name: str | None = field(default=None, name="persistentStatePVCName")
    pod: str | None = None
    selinux_context: str | None = None
    sync_address: str | None = None
    virtual_machine_instance_uid: str | None = field(default=None, name="virtualMachineInstanceUID")


class VirtualMachineInstanceMigrationTargetState(Struct, frozen=True, kw_only=True):
    """…"""

    attachment_pod_uid: str | None = field(default=None, name="attachmentPodUID")
    cpu_set: Annotated[tuple[Int32, ...], ATOMIC] = ()
    direct_migration_node_ports: Mapping[str, Int32] = NO_ENTRIES
    domain_detected: bool | None = None
    domain_name: str | None = None
    domain_namespace: str | None = None
    domain_ready_timestamp: datetime | None = None
    migration_uid: str | None = field(default=None, name="migrationUID")
    node: str | None = None
    node_address: str | None = None
    node_topology: str | None = None
    persistent_state_pvc_name: str | None = field(default=None, name="persistentStatePVCName")
    pod: str | None = None
    selinux_context: str | None = None
    sync_address: str | None = None
    virtual_machine_instance_uid: str | None = field(default=None, name="virtualMachineInstanceUID")


class VirtualMachineInstanceMigrationState(Struct, frozen=True, kw_only=True):
    """…"""

    abort_requested: bool | None = None
    abort_status: str | None = None
    completed: bool | None = None
    end_timestamp: datetime | None = None
    failed: bool | None = None
    failure_reason: str | None = None
    migration_configuration: VMIMConfigurationOptions | None = None
    migration_network_type: str | None = None
    migration_policy_name: str | None = None
    migration_uid: str | None = None
    mode: str | None = None
    source_node: str | None = None
    source_persistent_state_pvc_name: str | None = field(
        default=None, name="sourcePersistentStatePVCName"
    )
    source_pod: str | None = None
    source_state: VirtualMachineInstanceMigrationSourceState | None = None
    start_timestamp: datetime | None = None
    target_attachment_pod_uid: str | None = field(default=None, name="targetAttachmentPodUID")
    target_cpu_set: Annotated[tuple[Int32, ...], ATOMIC] = field(default=(), name="targetCPUSet")
    target_direct_migration_node_ports: Mapping[str, Int32] = NO_ENTRIES
    target_memory_overhead: Quantity | None = None
    target_node: str | None = None
    target_node_address: str | None = None
    target_node_domain_detected: bool | None = None
    target_node_domain_ready_timestamp: datetime | None = None
    target_node_topology: str | None = None
    target_persistent_state_pvc_name: str | None = field(
        default=None, name="targetPersistentStatePVCName"
    )
    target_pod: str | None = None
    target_state: VirtualMachineInstanceMigrationTargetState | None = None


class VirtualMachineInstanceMigrationSpec(Struct, frozen=True, kw_only=True):
    """…"""

    added_node_selector: Mapping[str, str] = NO_ENTRIES
    priority: str | None = None
    receive: VirtualMachineInstanceMigrationTarget | None = None
    send_to: VirtualMachineInstanceMigrationSource | None = None
    vmi_name: str | None = None


class VirtualMachineInstanceMigrationStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: tuple[VirtualMachineInstanceMigrationCondition, ...] = ()
    migration_state: VirtualMachineInstanceMigrationState | None = None
    phase: str | None = None
    phase_transition_timestamps: Annotated[
        tuple[VirtualMachineInstanceMigrationPhaseTransitionTimestamp, ...], ATOMIC
    ] = ()
    synchronization_addresses: Annotated[tuple[str, ...], ATOMIC] = ()


class VirtualMachineInstanceMigration(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstanceMigrationSpec
    status: VirtualMachineInstanceMigrationStatus = VirtualMachineInstanceMigrationStatus()
