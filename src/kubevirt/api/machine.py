"""VirtualMachine: the definition of a guest, running or not."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.data_volume import DataVolumeTemplateSpec
from kubevirt.api.disks import Disk
from kubevirt.api.instance import VirtualMachineInstanceTemplateSpec
from kubevirt.api.instance_status import ChangedBlockTrackingStatus, StorageMigratedVolumeInfo
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, NULLABLE, Int64, Struct, mark
from kubevirt.api.volumes import HotplugVolumeSource


class ControllerRevisionRef(Struct, frozen=True, kw_only=True):
    """A ControllerRevision in the same namespace."""

    name: str | None = None
    """Name of the ControllerRevision."""


class InstancetypeMatcher(Struct, frozen=True, kw_only=True):
    """Which instance type sizes the guest."""

    name: str | None = None
    """Name of the instance type."""
    infer_from_volume: str | None = None
    """Volume whose claim, DataVolume or DataSource names the instance type by label."""
    infer_from_volume_failure_policy: str | None = None
    """What to do if inference fails: Reject (default) or Ignore."""
    kind: str | None = None
    """VirtualMachineClusterInstancetype (default) or VirtualMachineInstancetype."""
    revision_name: str | None = None
    """ControllerRevision with the copy to use instead of the object as it is now."""


class PreferenceMatcher(Struct, frozen=True, kw_only=True):
    """Which preference supplies defaults to the guest."""

    name: str | None = None
    """Name of the preference."""
    infer_from_volume: str | None = None
    """Volume whose claim, DataVolume or DataSource names the preference by label."""
    infer_from_volume_failure_policy: str | None = None
    """What to do if inference fails: Reject (default) or Ignore."""
    kind: str | None = None
    """VirtualMachineClusterPreference (default) or VirtualMachinePreference."""
    revision_name: str | None = None
    """ControllerRevision with the copy to use instead of the object as it is now."""


class InstancetypeStatusRef(Struct, frozen=True, kw_only=True):
    """The instance type or preference in use, and the copy kept of it."""

    name: str | None = None
    """Name of the object."""
    controller_revision_ref: ControllerRevisionRef | None = None
    """Where the copy is kept."""
    infer_from_volume: str | None = None
    """Volume that it was inferred from."""
    infer_from_volume_failure_policy: str | None = None
    """Reject or Ignore."""
    kind: str | None = None
    """Kind of the object."""


class VirtualMachineCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the machine's state."""

    type: str
    """Ready, Failure, Paused, RestartRequired, ManualRecoveryRequired, or a type of
    the instance.
    """
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


class VirtualMachineMemoryDumpRequest(Struct, frozen=True, kw_only=True):
    """A dump of the guest's memory into a claim."""

    claim_name: str
    """Claim that takes the dump: file system mode, at least guest memory plus 100Mi."""
    end_timestamp: datetime | None = None
    """When the dump ended."""
    file_name: str | None = None
    """File in the claim."""
    message: str | None = None
    """Why it failed."""
    phase: str
    """Associating, InProgress, Unmounting, Completed, Dissociating or Failed."""
    remove: bool | None = None
    """The claim is being detached from the machine."""
    start_timestamp: datetime | None = None
    """When the dump began."""


class VirtualMachineStartFailure(Struct, frozen=True, kw_only=True):
    """Starts in a row that ended before the guest ran, and the pause until the next."""

    consecutive_fail_count: int | None = None
    """How many starts failed in a row."""
    last_failed_vmiuid: str | None = field(default=None, name="lastFailedVMIUID")
    """UID of the latest instance that failed."""
    retry_after_timestamp: datetime | None = None
    """No new start before this time."""


class VirtualMachineStateChangeRequest(Struct, frozen=True, kw_only=True):
    """A start or stop that waits for the controller."""

    action: str
    """Start or Stop."""
    data: Mapping[str, str] = NO_ENTRIES
    """Parameters of the action, such as paused."""
    uid: str | None = None
    """Instance that a Stop is meant for."""


class VolumeMigrationState(Struct, frozen=True, kw_only=True):
    """Progress of a copy of volumes to other claims."""

    migrated_volumes: Annotated[tuple[StorageMigratedVolumeInfo, ...], ATOMIC] = ()
    """Volumes with their old and new claims."""


class VolumeUpdateState(Struct, frozen=True, kw_only=True):
    """What happens to volumes that were replaced in a running guest."""

    volume_migration_state: VolumeMigrationState | None = None
    """The copy to the new claims."""


class VolumeSnapshotStatus(Struct, frozen=True, kw_only=True):
    """Whether a volume can be part of a snapshot."""

    name: str
    """The volume."""
    enabled: bool
    """Whether it can."""
    reason: str | None = None
    """Why it cannot."""


class AddVolumeOptions(Struct, frozen=True, kw_only=True):
    """A volume to attach to a machine."""

    name: str
    """Name of the new volume and of its disk."""
    disk: Disk
    """How the guest sees the volume."""
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    volume_source: HotplugVolumeSource
    """Claim or DataVolume to attach."""


class RemoveVolumeOptions(Struct, frozen=True, kw_only=True):
    """A volume to detach from a machine."""

    name: str
    """The hotplugged volume."""
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""


class VirtualMachineVolumeRequest(Struct, frozen=True, kw_only=True):
    """One pending hotplug: exactly one of the two is set."""

    add_volume_options: AddVolumeOptions | None = None
    """Attaches a volume."""
    remove_volume_options: RemoveVolumeOptions | None = None
    """Detaches a volume."""


class VirtualMachineSpec(Struct, frozen=True, kw_only=True):
    """The guest to run, and when."""

    data_volume_templates: tuple[DataVolumeTemplateSpec, ...] = ()
    """DataVolumes made for the machine and deleted with it; volumes refer to them by name."""
    instancetype: InstancetypeMatcher | None = None
    """Size of the guest, from an instance type; conflicts with CPU and memory in template."""
    preference: PreferenceMatcher | None = None
    """Defaults for what template leaves open, from a preference."""
    run_strategy: str | None = None
    """When the guest runs: Always, Halted, Manual, RerunOnFailure, Once or WaitAsReceiver."""
    running: bool | None = None
    """Deprecated: use runStrategy Always for true, Halted for false; the two exclude each other."""
    template: VirtualMachineInstanceTemplateSpec
    """The instance to create at each start."""
    update_volumes_strategy: str | None = None
    """How swapped volumes reach a running guest: Replacement (at restart) or Migration (copied
    live).
    """


class VirtualMachineStatus(Struct, frozen=True, kw_only=True):
    """What the machine is doing."""

    changed_block_tracking: Annotated[ChangedBlockTrackingStatus | None, NULLABLE] = None
    """State of the record of changed disk blocks, for incremental backups."""
    conditions: tuple[VirtualMachineCondition, ...] = ()
    """State in detail; most conditions mirror the instance."""
    created: bool | None = None
    """Whether the instance exists."""
    desired_generation: Int64 | None = None
    """Generation that a fresh start would use; above observedGeneration if a change waits."""
    instancetype_ref: Annotated[InstancetypeStatusRef | None, NULLABLE] = None
    """Instance type in use."""
    memory_dump_request: Annotated[VirtualMachineMemoryDumpRequest | None, NULLABLE] = None
    """The memory dump asked for last."""
    observed_generation: Int64 | None = None
    """Generation of the machine that the instance was started from."""
    preference_ref: Annotated[InstancetypeStatusRef | None, NULLABLE] = None
    """Preference in use."""
    printable_status: Annotated[str | None, mark(default="Stopped")] = None
    """State in one word: Stopped, Starting, Running, Paused, Migrating,
    CrashLoopBackOff and more.
    """
    ready: bool | None = None
    """Whether the guest is ready."""
    restore_in_progress: str | None = None
    """VirtualMachineRestore that holds the machine."""
    run_strategy: str | None = None
    """Strategy at the last sync; shows RerunOnFailure that it was just chosen."""
    snapshot_in_progress: str | None = None
    """VirtualMachineSnapshot that holds the machine."""
    start_failure: Annotated[VirtualMachineStartFailure | None, NULLABLE] = None
    """Failed starts, while there are any."""
    state_change_requests: tuple[VirtualMachineStateChangeRequest, ...] = ()
    """Starts and stops yet to be done; only the first counts."""
    volume_requests: Annotated[tuple[VirtualMachineVolumeRequest, ...], ATOMIC] = ()
    """Hotplugs yet to be done."""
    volume_snapshot_statuses: tuple[VolumeSnapshotStatus, ...] = ()
    """Which volumes a snapshot would cover."""
    volume_update_state: VolumeUpdateState | None = None
    """Volumes that are being replaced."""


class VirtualMachine(Struct, frozen=True, kw_only=True):
    """A virtual machine that outlives its runs; owns the VirtualMachineInstance of the
    same name.
    """

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSpec
    """The guest to run, and when."""
    status: VirtualMachineStatus = VirtualMachineStatus()
    """What it is doing."""
