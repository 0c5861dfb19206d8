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
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Int64, Struct
from kubevirt.api.volumes import HotplugVolumeSource


class ControllerRevisionRef(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None


class InstancetypeMatcher(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    infer_from_volume: str | None = None
    infer_from_volume_failure_policy: str | None = None
    kind: str | None = None
    revision_name: str | None = None


class PreferenceMatcher(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    infer_from_volume: str | None = None
    infer_from_volume_failure_policy: str | None = None
    kind: str | None = None
    revision_name: str | None = None


class InstancetypeStatusRef(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    controller_revision_ref: ControllerRevisionRef | None = None
    infer_from_volume: str | None = None
    infer_from_volume_failure_policy: str | None = None
    kind: str | None = None


class VirtualMachineCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class VirtualMachineMemoryDumpRequest(Struct, frozen=True, kw_only=True):
    """…"""

    claim_name: str
    end_timestamp: datetime | None = None
    file_name: str | None = None
    message: str | None = None
    phase: str
    remove: bool | None = None
    start_timestamp: datetime | None = None


class VirtualMachineStartFailure(Struct, frozen=True, kw_only=True):
    """…"""

    consecutive_fail_count: Int32 | None = None
    last_failed_vmiuid: str | None = field(default=None, name="lastFailedVMIUID")
    retry_after_timestamp: datetime | None = None


class VirtualMachineStateChangeRequest(Struct, frozen=True, kw_only=True):
    """…"""

    action: str
    data: Mapping[str, str] = NO_ENTRIES
    uid: str | None = None


class VolumeMigrationState(Struct, frozen=True, kw_only=True):
    """…"""

    migrated_volumes: Annotated[tuple[StorageMigratedVolumeInfo, ...], ATOMIC] = ()


class VolumeUpdateState(Struct, frozen=True, kw_only=True):
    """…"""

    volume_migration_state: VolumeMigrationState | None = None


class VolumeSnapshotStatus(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    enabled: bool
    reason: str | None = None


class AddVolumeOptions(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    disk: Disk
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    volume_source: HotplugVolumeSource


class RemoveVolumeOptions(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()


class VirtualMachineVolumeRequest(Struct, frozen=True, kw_only=True):
    """…"""

    add_volume_options: AddVolumeOptions | None = None
    remove_volume_options: RemoveVolumeOptions | None = None


class VirtualMachineSpec(Struct, frozen=True, kw_only=True):
    """…"""

    data_volume_templates: tuple[DataVolumeTemplateSpec, ...] = ()
    instancetype: InstancetypeMatcher | None = None
    preference: PreferenceMatcher | None = None
    run_strategy: str | None = None
    running: bool | None = None
    template: VirtualMachineInstanceTemplateSpec
    update_volumes_strategy: str | None = None


class VirtualMachineStatus(Struct, frozen=True, kw_only=True):
    """…"""

    changed_block_tracking: ChangedBlockTrackingStatus | None = None
    conditions: tuple[VirtualMachineCondition, ...] = ()
    created: bool | None = None
    desired_generation: Int64 | None = None
    instancetype_ref: InstancetypeStatusRef | None = None
    memory_dump_request: VirtualMachineMemoryDumpRequest | None = None
    observed_generation: Int64 | None = None
    preference_ref: InstancetypeStatusRef | None = None
    printable_status: str | None = None
    ready: bool | None = None
    restore_in_progress: str | None = None
    run_strategy: str | None = None
    snapshot_in_progress: str | None = None
    start_failure: VirtualMachineStartFailure | None = None
    state_change_requests: tuple[VirtualMachineStateChangeRequest, ...] = ()
    volume_requests: Annotated[tuple[VirtualMachineVolumeRequest, ...], ATOMIC] = ()
    volume_snapshot_statuses: tuple[VolumeSnapshotStatus, ...] = ()
    volume_update_state: VolumeUpdateState | None = None


class VirtualMachine(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSpec
    status: VirtualMachineStatus = VirtualMachineStatus()
