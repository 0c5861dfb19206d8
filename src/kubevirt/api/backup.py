"""Backups of machines, full and incremental."""

from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.meta import Condition, ObjectMeta
from kubevirt.api.struct import ATOMIC, Duration, Struct, list_map


class BackupVolumeInfo(Struct, frozen=True, kw_only=True):
    """…"""

    data_endpoint: str | None = None
    map_endpoint: str | None = None
    volume_name: str


class BackupCheckpoint(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    creation_time: datetime | None = None
    volumes: Annotated[tuple[BackupVolumeInfo, ...], ATOMIC] = ()


class BackupOptions(Struct, frozen=True, kw_only=True):
    """…"""

    backup_cert: str | None = None
    backup_key: str | None = None
    backup_name: str | None = None
    backup_start_time: datetime | None = None
    ca_cert: str | None = None
    cmd: str | None = None
    export_server_addr: str | None = None
    export_server_name: str | None = None
    incremental: str | None = None
    mode: str | None = None
    skip_quiesce: bool | None = None
    target_path: str | None = None


class VirtualMachineBackupSpec(Struct, frozen=True, kw_only=True):
    """…"""

    force_full_backup: bool | None = None
    mode: str | None = None
    pvc_name: str | None = None
    skip_quiesce: bool | None = None
    source: TypedLocalObjectReference
    token_secret_ref: str | None = None
    ttl_duration: Duration | None = None


class VirtualMachineBackupStatus(Struct, frozen=True, kw_only=True):
    """…"""

    type: str | None = None
    checkpoint_name: str | None = None
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    endpoint_cert: str | None = None
    export_uid: str | None = field(default=None, name="exportUID")
    included_volumes: Annotated[tuple[BackupVolumeInfo, ...], ATOMIC] = ()


class VirtualMachineBackup(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineBackupSpec
    status: VirtualMachineBackupStatus | None = None


class VirtualMachineBackupTrackerSpec(Struct, frozen=True, kw_only=True):
    """…"""

    source: TypedLocalObjectReference


class VirtualMachineBackupTrackerStatus(Struct, frozen=True, kw_only=True):
    """…"""

    checkpoint_redefinition_required: bool | None = None
    latest_checkpoint: BackupCheckpoint | None = None


class VirtualMachineBackupTracker(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineBackupTrackerSpec
    status: VirtualMachineBackupTrackerStatus | None = None
