"""What is known of a running guest."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.cpu import CPUTopology
from kubevirt.api.domain import Machine
from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.api.memory import MemoryStatus
from kubevirt.api.migration import VirtualMachineInstanceMigrationState
from kubevirt.api.struct import (
    ATOMIC,
    NO_ENTRIES,
    NULLABLE,
    Int32,
    Int64,
    Quantity,
    Struct,
    mark,
)


class VirtualMachineInstanceCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the instance's state."""

    type: str
    """Aspect, such as Ready, Paused, AgentConnected or LiveMigratable."""
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


class VirtualMachineInstancePhaseTransitionTimestamp(Struct, frozen=True, kw_only=True):
    """When the instance entered a phase."""

    phase: str | None = None
    """Phase that was entered."""
    phase_transition_timestamp: datetime | None = None
    """When it was entered."""


class VirtualMachineInstanceNetworkInterface(Struct, frozen=True, kw_only=True):
    """One network card of the running guest."""

    name: str | None = None
    """Network that the card is attached to; empty for cards only the guest knows."""
    info_source: str | None = None
    """Who reported it: guest-agent, domain or multus-status; may be several."""
    interface_name: str | None = None
    """Name inside the guest, e.g. enp1s0."""
    ip_address: str | None = None
    """First address."""
    ip_addresses: tuple[str, ...] = ()
    """All addresses."""
    link_state: str | None = None
    """up or down."""
    mac: str | None = None
    """MAC address."""
    pod_interface_name: str | None = None
    """Matching interface of the pod, e.g. eth0."""
    queue_count: Int32 | None = None
    """Queues by multiqueue."""


class ContainerDiskInfo(Struct, frozen=True, kw_only=True):
    """Facts about a container disk."""

    checksum: Annotated[Int64 | None, mark(minimum=0, maximum=4294967295)] = None
    """Deprecated: CRC of the disk image; the image's digest is pinned instead."""


class DomainMemoryDumpInfo(Struct, frozen=True, kw_only=True):
    """One memory dump."""

    claim_name: str | None = None
    """PVC that receives the dump."""
    end_timestamp: datetime | None = None
    """When it ended."""
    start_timestamp: datetime | None = None
    """When it began."""
    target_file_name: str | None = None
    """File in the PVC."""


class HotplugVolumeStatus(Struct, frozen=True, kw_only=True):
    """Helper pod that brings a hotplugged volume to the node."""

    attach_pod_name: str | None = None
    """Name of the pod."""
    attach_pod_uid: str | None = field(default=None, name="attachPodUID")
    """UID of the pod."""


class PersistentVolumeClaimInfo(Struct, frozen=True, kw_only=True):
    """Facts about a PVC that the node needs."""

    access_modes: Annotated[tuple[str, ...], ATOMIC] = ()
    """Access modes of the PVC."""
    capacity: Mapping[str, Quantity] = NO_ENTRIES
    """Size provided."""
    claim_name: str | None = None
    """Name of the PVC."""
    filesystem_overhead: Annotated[str | None, mark(pattern=r"^(0(?:\.\d{1,3})?|1)$")] = None
    """Share kept free for the file system, e.g. 0.055."""
    preallocated: bool | None = None
    """Whether the space was allocated in advance."""
    requests: Mapping[str, Quantity] = NO_ENTRIES
    """Size asked for."""
    volume_mode: str | None = None
    """Filesystem or Block."""


class VolumeStatus(Struct, frozen=True, kw_only=True):
    """State of one volume."""

    name: str
    """Name of the volume."""
    container_disk_volume: ContainerDiskInfo | None = None
    """Set for a container disk."""
    hotplug_volume: HotplugVolumeStatus | None = None
    """Set for a hotplugged volume."""
    memory_dump_volume: DomainMemoryDumpInfo | None = None
    """Set for a memory dump."""
    message: str | None = None
    """Explanation of the phase for people."""
    persistent_volume_claim_info: PersistentVolumeClaimInfo | None = None
    """Set for a PVC."""
    phase: str | None = None
    """Step of hotplug: Pending, Bound, AttachedToNode, MountedToPod, Ready, Detaching, ..."""
    reason: str | None = None
    """Explanation of the phase in one word."""
    size: Int64 | None = None
    """Size in bytes."""
    target: str
    """Device in the guest's machine, e.g. vda."""


class KernelInfo(Struct, frozen=True, kw_only=True):
    """Facts about the kernel of a direct boot."""

    checksum: Annotated[Int64 | None, mark(minimum=0, maximum=4294967295)] = None
    """CRC of the kernel."""


class InitrdInfo(Struct, frozen=True, kw_only=True):
    """Facts about the initial ramdisk of a direct boot."""

    checksum: Annotated[Int64 | None, mark(minimum=0, maximum=4294967295)] = None
    """CRC of the initial ramdisk."""


class KernelBootStatus(Struct, frozen=True, kw_only=True):
    """What a direct kernel boot used."""

    initrd_info: InitrdInfo | None = None
    """Initial ramdisk in use."""
    kernel_info: KernelInfo | None = None
    """Kernel in use."""


class TopologyHints(Struct, frozen=True, kw_only=True):
    """Facts about nodes that scheduling took into account."""

    tsc_frequency: Int64 | None = None
    """TSC frequency in Hz that every node for this guest must offer."""


class StorageMigratedVolumeInfo(Struct, frozen=True, kw_only=True):
    """Volume that moves from one PVC to another."""

    destination_pvc_info: PersistentVolumeClaimInfo | None = field(
        default=None, name="destinationPVCInfo"
    )
    """PVC it moves to."""
    source_pvc_info: PersistentVolumeClaimInfo | None = field(default=None, name="sourcePVCInfo")
    """PVC it leaves."""
    volume_name: str
    """Name of the volume."""


class VirtualMachineInstanceBackupVolumeInfo(Struct, frozen=True, kw_only=True):
    """Volume that a backup contains."""

    volume_name: str
    """Name of the volume."""


class VirtualMachineInstanceBackupStatus(Struct, frozen=True, kw_only=True):
    """Latest backup of the instance."""

    backup_msg: str | None = None
    """Remarks, such as the cause of a failure."""
    backup_name: str | None = None
    """VirtualMachineBackup it belongs to."""
    checkpoint_name: str | None = None
    """Checkpoint that the next incremental backup starts from."""
    completed: bool | None = None
    """Whether it has ended."""
    end_timestamp: datetime | None = None
    """When it ended."""
    failed: bool | None = None
    """Whether it failed."""
    quiesce_status: str | None = None
    """Whether the guest's file systems were frozen for it."""
    start_timestamp: datetime | None = None
    """When it began."""
    volumes: Annotated[tuple[VirtualMachineInstanceBackupVolumeInfo, ...], ATOMIC] = ()
    """Volumes it contains."""


class ChangedBlockTrackingStatus(Struct, frozen=True, kw_only=True):
    """State of changed block tracking."""

    backup_status: Annotated[VirtualMachineInstanceBackupStatus | None, NULLABLE] = None
    """Latest backup."""
    state: str
    """PendingRestart, Initializing, Enabled or Disabled, among others."""


class VirtualMachineInstanceStatus(Struct, frozen=True, kw_only=True):
    """What is known of a guest."""

    vsockcid: Annotated[Int64 | None, mark(minimum=0, maximum=4294967295)] = field(
        default=None, name="VSOCKCID"
    )
    """Address of the guest on the node's vsock."""
    active_pods: Mapping[str, str] = NO_ENTRIES
    """Launcher pods by UID with their nodes; two during a migration."""
    changed_block_tracking: Annotated[ChangedBlockTrackingStatus | None, NULLABLE] = None
    """State of changed block tracking."""
    conditions: tuple[VirtualMachineInstanceCondition, ...] = ()
    """Single aspects: Ready, Paused, LiveMigratable and others."""
    current_cpu_topology: CPUTopology | None = field(default=None, name="currentCPUTopology")
    """CPUs plugged in now; lags behind the spec during hotplug."""
    evacuation_node_name: str | None = None
    """Node that the guest is to leave; set by eviction."""
    fs_freeze_status: str | None = None
    """frozen after a freeze request, otherwise empty."""
    guest_os_info: VirtualMachineInstanceGuestOSInfo = field(
        default=VirtualMachineInstanceGuestOSInfo(), name="guestOSInfo"
    )
    """Guest system, if an agent runs in it."""
    interfaces: tuple[VirtualMachineInstanceNetworkInterface, ...] = ()
    """Network cards with addresses."""
    kernel_boot_status: KernelBootStatus | None = None
    """Kernel and ramdisk of a direct boot."""
    launcher_container_image_version: str | None = None
    """Image of the launcher pod."""
    machine: Machine | None = None
    """Exact machine type in use, aliases resolved."""
    memory: MemoryStatus | None = None
    """Memory at boot, now and requested."""
    migrated_volumes: Annotated[tuple[StorageMigratedVolumeInfo, ...], ATOMIC] = ()
    """Volumes that are moving to other PVCs."""
    migration_method: str | None = None
    """LiveMigration, or BlockMigration if disks must be copied."""
    migration_state: VirtualMachineInstanceMigrationState | None = None
    """Current or latest migration."""
    migration_transport: str | None = None
    """How launchers are reached in a migration: Unix."""
    node_name: str | None = None
    """Node on which the guest runs."""
    phase: str | None = None
    """Pending, Scheduling, Scheduled, Running, Succeeded, Failed, WaitingForSync or Unknown."""
    phase_transition_timestamps: Annotated[
        tuple[VirtualMachineInstancePhaseTransitionTimestamp, ...], ATOMIC
    ] = ()
    """When each phase was entered."""
    qos_class: str | None = None
    """Quality of service of the launcher pod."""
    reason: str | None = None
    """Cause of the phase in one word, e.g. NodeUnresponsive."""
    runtime_user: Int64 | None = None
    """User ID of the launcher: 107, or 0 for root."""
    selinux_context: str | None = None
    """SELinux context of the launcher pod."""
    topology_hints: TopologyHints | None = None
    """Facts about nodes that limit migration."""
    virtual_machine_revision_name: str | None = None
    """ControllerRevision with the VM's spec at start."""
    volume_status: Annotated[tuple[VolumeStatus, ...], ATOMIC] = ()
    """State of each volume."""
