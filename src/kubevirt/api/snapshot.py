"""Snapshots of machines, what they hold, and restores."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.core.storage import PersistentVolumeClaimSpec
from kubevirt.api.machine import VirtualMachineSpec, VirtualMachineStatus
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import (
    ATOMIC,
    NO_ENTRIES,
    NULLABLE,
    SET,
    Duration,
    Struct,
    enum,
    mark,
)


class Condition(Struct, frozen=True, kw_only=True):
    """One aspect of the state."""

    type: str
    """Ready, Progressing or Failure."""
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


class Error(Struct, frozen=True, kw_only=True):
    """What went wrong last."""

    message: str | None = None
    """Text of the error."""
    time: datetime | None = None
    """When it happened."""


class SourceIndication(Struct, frozen=True, kw_only=True):
    """How the machine was when the snapshot was taken."""

    indication: str
    """Online, GuestAgent, NoGuestAgent, QuiesceTimeout, Paused or PartialSnapshot."""
    message: str
    """What that means for the snapshot."""


class SnapshotVolumesLists(Struct, frozen=True, kw_only=True):
    """Volumes in the snapshot, and those left out."""

    excluded_volumes: Annotated[tuple[str, ...], SET] = ()
    """Volumes that cannot be snapshotted."""
    included_volumes: Annotated[tuple[str, ...], SET] = ()
    """Volumes with a VolumeSnapshot."""


class VirtualMachineSnapshotSpec(Struct, frozen=True, kw_only=True):
    """What to snapshot; cannot be changed."""

    deletion_policy: str | None = None
    """Whether the content goes with the snapshot: Delete (default) or Retain."""
    failure_deadline: Duration | None = None
    """Time after which an unfinished snapshot fails; default 5m."""
    source: TypedLocalObjectReference
    """The machine: kind VirtualMachine, apiGroup kubevirt.io."""


class VirtualMachineSnapshotStatus(Struct, frozen=True, kw_only=True):
    """How far the snapshot is."""

    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    """State in detail."""
    creation_time: Annotated[datetime | None, NULLABLE] = None
    """When the data was frozen in time."""
    error: Error | None = None
    """The last error."""
    indications: Annotated[tuple[str, ...], SET] = ()
    """Deprecated: use sourceIndications."""
    phase: str | None = None
    """InProgress, Succeeded, Failed, Deleting or Unknown."""
    ready_to_use: bool | None = None
    """Whether it can be restored."""
    snapshot_volumes: SnapshotVolumesLists | None = None
    """Volumes in it and left out."""
    source_indications: Annotated[tuple[SourceIndication, ...], ATOMIC] = ()
    """How the machine was at that time."""
    source_uid: str | None = field(default=None, name="sourceUID")
    """UID of the machine."""
    virtual_machine_snapshot_content_name: str | None = None
    """VirtualMachineSnapshotContent with the data."""


class VirtualMachineSnapshot(Struct, frozen=True, kw_only=True):
    """A machine's definition and disks at one moment; quiesced if the guest has an agent."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSnapshotSpec
    """What to snapshot."""
    status: VirtualMachineSnapshotStatus | None = None
    """How far it is."""


class PersistentVolumeClaim(Struct, frozen=True, kw_only=True):
    """A claim as it was."""

    metadata: ObjectMeta = ObjectMeta()
    """Its name, labels and annotations."""
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    """Its specification."""


class VirtualMachine(Struct, frozen=True, kw_only=True):
    """A machine as it was."""

    metadata: ObjectMeta = ObjectMeta()
    """Its name, labels and annotations."""
    spec: VirtualMachineSpec | None = None
    """Its specification."""
    status: VirtualMachineStatus = VirtualMachineStatus()
    """Its status."""


class SourceSpec(Struct, frozen=True, kw_only=True):
    """What was snapshotted."""

    virtual_machine: VirtualMachine | None = None
    """The machine as it was."""


class VolumeBackup(Struct, frozen=True, kw_only=True):
    """A volume in the snapshot."""

    persistent_volume_claim: PersistentVolumeClaim
    """The claim as it was."""
    volume_name: str
    """Name of the volume in the machine."""
    volume_snapshot_name: str | None = None
    """VolumeSnapshot with the data."""


class VolumeSnapshotStatus(Struct, frozen=True, kw_only=True):
    """How far the snapshot of one volume is."""

    creation_time: Annotated[datetime | None, NULLABLE] = None
    """When the storage took it."""
    error: Error | None = None
    """The last error of the storage."""
    ready_to_use: bool | None = None
    """Whether it can be restored."""
    volume_snapshot_name: str
    """Name of the VolumeSnapshot."""


class VirtualMachineSnapshotContentSpec(Struct, frozen=True, kw_only=True):
    """What a snapshot holds."""

    source: SourceSpec
    """The machine as it was."""
    virtual_machine_snapshot_name: str | None = None
    """Snapshot that it belongs to."""
    volume_backups: Annotated[tuple[VolumeBackup, ...], ATOMIC] = ()
    """The volumes."""


class VirtualMachineSnapshotContentStatus(Struct, frozen=True, kw_only=True):
    """How far the content is."""

    creation_time: Annotated[datetime | None, NULLABLE] = None
    """When the data was frozen in time."""
    error: Error | None = None
    """The last error."""
    ready_to_use: bool | None = None
    """Whether all volumes can be restored."""
    volume_snapshot_status: Annotated[tuple[VolumeSnapshotStatus, ...], ATOMIC] = ()
    """State per volume."""


class VirtualMachineSnapshotContent(Struct, frozen=True, kw_only=True):
    """What a snapshot holds: the machine's definition and its VolumeSnapshots."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSnapshotContentSpec
    """What it holds."""
    status: VirtualMachineSnapshotContentStatus | None = None
    """How far it is."""


class VolumeRestore(Struct, frozen=True, kw_only=True):
    """A volume made by a restore."""

    data_volume_name: str | None = None
    """DataVolume that was made for the claim."""
    persistent_volume_claim: str
    """The new claim."""
    volume_name: str
    """Name of the volume in the machine."""
    volume_snapshot_name: str
    """VolumeSnapshot that the data comes from."""


class VolumeRestoreOverride(Struct, frozen=True, kw_only=True):
    """Changes to one restored volume."""

    annotations: Mapping[str, str] = NO_ENTRIES
    """Annotations to add to the new claim."""
    labels: Mapping[str, str] = NO_ENTRIES
    """Labels to add to the new claim."""
    restore_name: str | None = None
    """Name of the new claim."""
    volume_name: str | None = None
    """Volume that is meant, by its name in the machine."""


class VirtualMachineRestoreSpec(Struct, frozen=True, kw_only=True):
    """What to restore, and onto which machine; cannot be changed."""

    patches: Annotated[tuple[str, ...], ATOMIC] = ()
    """JSON patches for the restored machine, one text each, only below /spec/."""
    target: TypedLocalObjectReference
    """The machine, of kind VirtualMachine; created if it does not exist."""
    target_readiness_policy: Annotated[
        str | None,
        enum("StopTarget", "WaitGracePeriod", "FailImmediate", "WaitEventually"),
        mark(default="WaitGracePeriod"),
    ] = None
    """If the machine runs: WaitGracePeriod (5m, default), WaitEventually, StopTarget or
    FailImmediate.
    """
    virtual_machine_snapshot_name: str
    """The snapshot to restore."""
    volume_ownership_policy: str | None = None
    """Whether new claims go with the machine (Vm, default) or stay when it is deleted (None)."""
    volume_restore_overrides: Annotated[tuple[VolumeRestoreOverride, ...], ATOMIC] = ()
    """Changes to single volumes."""
    volume_restore_policy: str | None = None
    """Names of new claims: RandomizeNames (default), InPlace (as before) or PrefixTargetName."""


class VirtualMachineRestoreStatus(Struct, frozen=True, kw_only=True):
    """How far the restore is."""

    complete: bool | None = None
    """Whether it is done."""
    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    """State in detail."""
    deleted_data_volumes: Annotated[tuple[str, ...], SET] = ()
    """DataVolumes of the machine that the restore replaced."""
    restore_time: datetime | None = None
    """When it was done."""
    restores: Annotated[tuple[VolumeRestore, ...], ATOMIC] = ()
    """The volumes made."""


class VirtualMachineRestore(Struct, frozen=True, kw_only=True):
    """Puts a machine back to a snapshot, or makes a new machine from one."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineRestoreSpec
    """What to restore."""
    status: VirtualMachineRestoreStatus | None = None
    """How far it is."""
