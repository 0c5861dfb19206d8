"""Snapshots of machines, what they hold, and restores."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.core.storage import PersistentVolumeClaimSpec
from kubevirt.api.machine import VirtualMachineSpec, VirtualMachineStatus
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, SET, Duration, Struct


class Condition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class Error(Struct, frozen=True, kw_only=True):
    """…"""

    message: str | None = None
    time: datetime | None = None


class SourceIndication(Struct, frozen=True, kw_only=True):
    """…"""

    indication: str
    message: str


class SnapshotVolumesLists(Struct, frozen=True, kw_only=True):
    """…"""

    excluded_volumes: Annotated[tuple[str, ...], SET] = ()
    included_volumes: Annotated[tuple[str, ...], SET] = ()


class VirtualMachineSnapshotSpec(Struct, frozen=True, kw_only=True):
    """…"""

    deletion_policy: str | None = None
    failure_deadline: Duration | None = None
    source: TypedLocalObjectReference


class VirtualMachineSnapshotStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    creation_time: datetime | None = None
    error: Error | None = None
    indications: Annotated[tuple[str, ...], SET] = ()
    phase: str | None = None
    ready_to_use: bool | None = None
    snapshot_volumes: SnapshotVolumesLists | None = None
    source_indications: Annotated[tuple[SourceIndication, ...], ATOMIC] = ()
    source_uid: str | None = field(default=None, name="sourceUID")
    virtual_machine_snapshot_content_name: str | None = None


class VirtualMachineSnapshot(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSnapshotSpec
    status: VirtualMachineSnapshotStatus | None = None


class PersistentVolumeClaim(Struct, frozen=True, kw_only=True):
    """…"""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class VirtualMachine(Struct, frozen=True, kw_only=True):
    """…"""

    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSpec | None = None
    status: VirtualMachineStatus = VirtualMachineStatus()


class SourceSpec(Struct, frozen=True, kw_only=True):
    """…"""

    virtual_machine: VirtualMachine | None = None


class VolumeBackup(Struct, frozen=True, kw_only=True):
    """…"""

    persistent_volume_claim: PersistentVolumeClaim
    volume_name: str
    volume_snapshot_name: str | None = None


class VolumeSnapshotStatus(Struct, frozen=True, kw_only=True):
    """…"""

    creation_time: datetime | None = None
    error: Error | None = None
    ready_to_use: bool | None = None
    volume_snapshot_name: str


class VirtualMachineSnapshotContentSpec(Struct, frozen=True, kw_only=True):
    """…"""

    source: SourceSpec
    virtual_machine_snapshot_name: str | None = None
    volume_backups: Annotated[tuple[VolumeBackup, ...], ATOMIC] = ()


class VirtualMachineSnapshotContentStatus(Struct, frozen=True, kw_only=True):
    """…"""

    creation_time: datetime | None = None
    error: Error | None = None
    ready_to_use: bool | None = None
    volume_snapshot_status: Annotated[tuple[VolumeSnapshotStatus, ...], ATOMIC] = ()


class VirtualMachineSnapshotContent(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineSnapshotContentSpec
    status: VirtualMachineSnapshotContentStatus | None = None


class VolumeRestore(Struct, frozen=True, kw_only=True):
    """…"""

    data_volume_name: str | None = None
    persistent_volume_claim: str
    volume_name: str
    volume_snapshot_name: str


class VolumeRestoreOverride(Struct, frozen=True, kw_only=True):
    """…"""

    annotations: Mapping[str, str] = NO_ENTRIES
    labels: Mapping[str, str] = NO_ENTRIES
    restore_name: str | None = None
    volume_name: str | None = None


class VirtualMachineRestoreSpec(Struct, frozen=True, kw_only=True):
    """…"""

    patches: Annotated[tuple[str, ...], ATOMIC] = ()
    target: TypedLocalObjectReference
    target_readiness_policy: str | None = None
    virtual_machine_snapshot_name: str
    volume_ownership_policy: str | None = None
    volume_restore_overrides: Annotated[tuple[VolumeRestoreOverride, ...], ATOMIC] = ()
    volume_restore_policy: str | None = None


class VirtualMachineRestoreStatus(Struct, frozen=True, kw_only=True):
    """…"""

    complete: bool | None = None
    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    deleted_data_volumes: Annotated[tuple[str, ...], SET] = ()
    restore_time: datetime | None = None
    restores: Annotated[tuple[VolumeRestore, ...], ATOMIC] = ()


class VirtualMachineRestore(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineRestoreSpec
    status: VirtualMachineRestoreStatus | None = None
