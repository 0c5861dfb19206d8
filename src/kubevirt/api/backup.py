"""Backups of machines, full and incremental."""

from datetime import datetime
from typing import Annotated, ClassVar

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.meta import Condition, ObjectMeta
from kubevirt.api.struct import ATOMIC, Duration, Mark, Struct, enum, list_map, rule


class BackupVolumeInfo(Struct, frozen=True, kw_only=True):
    """A volume in a backup."""

    data_endpoint: str | None = None
    """Address of its data, in mode Pull."""
    map_endpoint: str | None = None
    """Address of its map of changed blocks, in mode Pull."""
    volume_name: str
    """Name of the volume in the machine."""


class BackupCheckpoint(Struct, frozen=True, kw_only=True):
    """A moment from which changed blocks are counted."""

    name: str | None = None
    """Name of the checkpoint."""
    creation_time: datetime | None = None
    """When it was made."""
    volumes: Annotated[tuple[BackupVolumeInfo, ...], ATOMIC] = ()
    """Volumes that it covers."""


class BackupOptions(Struct, frozen=True, kw_only=True):
    """Body of backup: what virt-launcher is to do."""

    backup_cert: str | None = None
    """Certificate for the link to the export server, in PEM."""
    backup_key: str | None = None
    """Private key of that certificate, in PEM."""
    backup_name: str | None = None
    """Name of the VirtualMachineBackup."""
    backup_start_time: datetime | None = None
    """When the backup was begun; with the name it tells backups apart."""
    ca_cert: str | None = None
    """Authority that signed the export server's certificate, in PEM."""
    cmd: str | None = None
    """Start, Abort, or Export to link a Pull backup to the export server."""
    export_server_addr: str | None = None
    """Address of the export server."""
    export_server_name: str | None = None
    """Name in the export server's certificate."""
    incremental: str | None = None
    """Checkpoint to count changes from; without it the backup is full."""
    mode: str | None = None
    """Push or Pull."""
    skip_quiesce: bool | None = None
    """Does not freeze the guest's file systems first."""
    target_path: str | None = None
    """Folder in virt-launcher that takes the backup."""


class VirtualMachineBackupSpec(Struct, frozen=True, kw_only=True):
    """What to back up, and how; cannot be changed."""

    marks: ClassVar[tuple[Mark, ...]] = (
        rule("self == oldSelf", "spec is immutable after creation"),
        rule('has(self.pvcName) && self.pvcName != ""', "pvcName is required"),
        rule(
            "!has(self.mode) || self.mode != 'Pull' || (has(self.tokenSecretRef) && self.tokenSecretRef != \"\")",
            "tokenSecretRef is required when mode is Pull",
        ),
    )

    force_full_backup: bool | None = None
    """Backs up everything even if an increment were possible."""
    mode: Annotated[str | None, enum("Push", "Pull")] = None
    """Push (default) writes to a claim; Pull lets a client read from an export."""
    pvc_name: str | None = None
    """Claim that takes the backup; needed for Push."""
    skip_quiesce: bool | None = None
    """Does not freeze the guest's file systems first."""
    source: Annotated[
        TypedLocalObjectReference,
        rule("has(self.apiGroup)", "apiGroup is required"),
        rule(
            "!has(self.apiGroup) || self.apiGroup == 'kubevirt.io' || self.apiGroup == 'backup.kubevirt.io'",
            "apiGroup must be kubevirt.io or backup.kubevirt.io",
        ),
        rule(
            "!has(self.apiGroup) || (self.apiGroup == 'kubevirt.io' && self.kind == 'VirtualMachine') || (self.apiGroup == 'backup.kubevirt.io' && self.kind == 'VirtualMachineBackupTracker')",
            "kind must be VirtualMachine for kubevirt.io or VirtualMachineBackupTracker for backup.kubevirt.io",
        ),
        rule("self.name != ''", "name is required"),
    ]
    """A VirtualMachine, or a VirtualMachineBackupTracker for increments."""
    token_secret_ref: str | None = None
    """Secret with the token that readers of a Pull backup must show."""
    ttl_duration: Duration | None = None
    """Life of a Pull backup, from its creation; then it counts as done."""


class VirtualMachineBackupStatus(Struct, frozen=True, kw_only=True):
    """How far the backup is."""

    type: str | None = None
    """Full or Incremental."""
    checkpoint_name: str | None = None
    """Checkpoint that the next increment can start from."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """State in detail."""
    endpoint_cert: str | None = None
    """Authority that signed the certificate of the endpoints, in PEM."""
    export_uid: str | None = field(default=None, name="exportUID")
    """UID of the VirtualMachineExport that serves a Pull backup."""
    included_volumes: Annotated[tuple[BackupVolumeInfo, ...], ATOMIC] = ()
    """Volumes in the backup."""


class VirtualMachineBackup(Struct, frozen=True, kw_only=True):
    """Copies the disks of a running machine, all or what changed; gate IncrementalBackup."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineBackupSpec
    """What to back up."""
    status: VirtualMachineBackupStatus | None = None
    """How far it is."""


class VirtualMachineBackupTrackerSpec(Struct, frozen=True, kw_only=True):
    """Whose backups are tracked."""

    marks: ClassVar[tuple[Mark, ...]] = (
        rule("self == oldSelf", "spec is immutable after creation"),
    )

    source: Annotated[
        TypedLocalObjectReference,
        rule(
            "has(self.apiGroup) && self.apiGroup == 'kubevirt.io'", "apiGroup must be kubevirt.io"
        ),
        rule("self.kind == 'VirtualMachine'", "kind must be VirtualMachine"),
        rule("self.name != ''", "name is required"),
    ]
    """The VirtualMachine."""


class VirtualMachineBackupTrackerStatus(Struct, frozen=True, kw_only=True):
    """Where the next increment starts."""

    checkpoint_redefinition_required: bool | None = None
    """The guest restarted, so libvirt must be told of the checkpoint again."""
    latest_checkpoint: BackupCheckpoint | None = None
    """Checkpoint of the last backup."""


class VirtualMachineBackupTracker(Struct, frozen=True, kw_only=True):
    """Remembers the last checkpoint of a machine, so that backups can be increments."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineBackupTrackerSpec
    """Whose backups are tracked."""
    status: VirtualMachineBackupTrackerStatus | None = None
    """Where the next increment starts."""
