"""What is known of a running guest."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.cpu import CPUTopology
from kubevirt.api.domain import Machine
from kubevirt.api.memory import MemoryStatus
from kubevirt.api.migration import VirtualMachineInstanceMigrationState
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Int64, Quantity, Struct, enum


class VirtualMachineInstanceCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class VirtualMachineInstancePhaseTransitionTimestamp(Struct, frozen=True, kw_only=True):
    """…"""

    phase: str | None = None
    phase_transition_timestamp: datetime | None = None


class VirtualMachineInstanceGuestOSInfo(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    id: str | None = None
    kernel_release: str | None = None
    kernel_version: str | None = None
    machine: str | None = None
    pretty_name: str | None = None
    version: str | None = None
    version_id: str | None = None


class VirtualMachineInstanceNetworkInterface(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    info_source: str | None = None
    interface_name: str | None = None
    ip_address: str | None = None
    ip_addresses: tuple[str, ...] = ()
    link_state: str | None = None
    mac: str | None = None
    pod_interface_name: str | None = None
    queue_count: Int32 | None = None


class ContainerDiskInfo(Struct, frozen=True, kw_only=True):
    """…"""

    checksum: Int64 | None = None


class DomainMemoryDumpInfo(Struct, frozen=True, kw_only=True):
    """…"""

    claim_name: str | None = None
    end_timestamp: datetime | None = None
    start_timestamp: datetime | None = None
    target_file_name: str | None = None


class HotplugVolumeStatus(Struct, frozen=True, kw_only=True):
    """…"""

    attach_pod_name: str | None = None
    attach_pod_uid: str | None = field(default=None, name="attachPodUID")


class PersistentVolumeClaimInfo(Struct, frozen=True, kw_only=True):
    """…"""

    access_modes: Annotated[
        tuple[
            Annotated[
                str, enum("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
            ],
            ...,
        ],
        ATOMIC,
    ] = ()
    capacity: Mapping[str, Quantity] = NO_ENTRIES
    claim_name: str | None = None
    filesystem_overhead: str | None = None
    preallocated: bool | None = None
    requests: Mapping[str, Quantity] = NO_ENTRIES
    volume_mode: Annotated[str | None, enum("Block", "Filesystem", "FromStorageProfile")] = None


class VolumeStatus(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    container_disk_volume: ContainerDiskInfo | None = None
    hotplug_volume: HotplugVolumeStatus | None = None
    memory_dump_volume: DomainMemoryDumpInfo | None = None
    message: str | None = None
    persistent_volume_claim_info: PersistentVolumeClaimInfo | None = None
    phase: str | None = None
    reason: str | None = None
    size: Int64 | None = None
    target: str


class KernelInfo(Struct, frozen=True, kw_only=True):
    """…"""

    checksum: Int64 | None = None


class InitrdInfo(Struct, frozen=True, kw_only=True):
    """…"""

    checksum: Int64 | None = None


class KernelBootStatus(Struct, frozen=True, kw_only=True):
    """…"""

    initrd_info: InitrdInfo | None = None
    kernel_info: KernelInfo | None = None


class TopologyHints(Struct, frozen=True, kw_only=True):
    """…"""

    tsc_frequency: Int64 | None = None


class StorageMigratedVolumeInfo(Struct, frozen=True, kw_only=True):
    """…"""

    destination_pvc_info: PersistentVolumeClaimInfo | None = field(
        default=None, name="destinationPVCInfo"
    )
    source_pvc_info: PersistentVolumeClaimInfo | None = field(default=None, name="sourcePVCInfo")
    volume_name: str


class VirtualMachineInstanceBackupVolumeInfo(Struct, frozen=True, kw_only=True):
    """…"""

    volume_name: str


class VirtualMachineInstanceBackupStatus(Struct, frozen=True, kw_only=True):
    """…"""

    backup_msg: str | None = None
    backup_name: str | None = None
    checkpoint_name: str | None = None
    completed: bool | None = None
    end_timestamp: datetime | None = None
    failed: bool | None = None
    quiesce_status: str | None = None
    start_timestamp: datetime | None = None
    volumes: Annotated[tuple[VirtualMachineInstanceBackupVolumeInfo, ...], ATOMIC] = ()


class ChangedBlockTrackingStatus(Struct, frozen=True, kw_only=True):
    """…"""

    backup_status: VirtualMachineInstanceBackupStatus | None = None
    state: str


class VirtualMachineInstanceStatus(Struct, frozen=True, kw_only=True):
    """…"""

    vsockcid: Int64 | None = field(default=None, name="VSOCKCID")
    active_pods: Mapping[str, str] = NO_ENTRIES
    changed_block_tracking: ChangedBlockTrackingStatus | None = None
    conditions: tuple[VirtualMachineInstanceCondition, ...] = ()
    current_cpu_topology: CPUTopology | None = field(default=None, name="currentCPUTopology")
    evacuation_node_name: str | None = None
    fs_freeze_status: str | None = None
    guest_os_info: VirtualMachineInstanceGuestOSInfo = field(
        default=VirtualMachineInstanceGuestOSInfo(), name="guestOSInfo"
    )
    interfaces: tuple[VirtualMachineInstanceNetworkInterface, ...] = ()
    kernel_boot_status: KernelBootStatus | None = None
    launcher_container_image_version: str | None = None
    machine: Machine | None = None
    memory: MemoryStatus | None = None
    migrated_volumes: Annotated[tuple[StorageMigratedVolumeInfo, ...], ATOMIC] = ()
    migration_method: str | None = None
    migration_state: VirtualMachineInstanceMigrationState | None = None
    migration_transport: str | None = None
    node_name: str | None = None
    phase: str | None = None
    phase_transition_timestamps: Annotated[
        tuple[VirtualMachineInstancePhaseTransitionTimestamp, ...], ATOMIC
    ] = ()
    qos_class: Annotated[str | None, enum("BestEffort", "Burstable", "Guaranteed")] = None
    reason: str | None = None
    runtime_user: Int64 | None = None
    selinux_context: str | None = None
    topology_hints: TopologyHints | None = None
    virtual_machine_revision_name: str | None = None
    volume_status: Annotated[tuple[VolumeStatus, ...], ATOMIC] = ()
