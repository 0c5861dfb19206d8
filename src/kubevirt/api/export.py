"""VirtualMachineExport: download of volumes and manifests."""

from datetime import datetime
from typing import Annotated

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NULLABLE, Duration, Struct, list_map


class Condition(Struct, frozen=True, kw_only=True):
    """One aspect of the export's state."""

    type: str
    """Ready, PVCReady or VolumesCreated."""
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


class VirtualMachineExportBackupEndpoint(Struct, frozen=True, kw_only=True):
    """One address of a backup."""

    endpoint: str
    """What it serves: the data or the map of changed blocks."""
    url: str
    """Where to read it."""


class VirtualMachineExportBackup(Struct, frozen=True, kw_only=True):
    """A volume of a backup."""

    name: str
    """Name of the volume."""
    endpoints: Annotated[tuple[VirtualMachineExportBackupEndpoint, ...], list_map("endpoint")] = ()
    """Addresses to read it from."""


class VirtualMachineExportManifest(Struct, frozen=True, kw_only=True):
    """Manifests to recreate the machine elsewhere."""

    type: str
    """all (machine and volumes) or auth-header-secret (the token as a Secret for CDI)."""
    url: str
    """Where to download it."""


class VirtualMachineExportVolumeFormat(Struct, frozen=True, kw_only=True):
    """One form in which a volume can be downloaded."""

    format: str
    """raw, gzip, dir or tar.gz."""
    url: str
    """Where to download it; send the token as header x-kubevirt-export-token."""


class VirtualMachineExportVolume(Struct, frozen=True, kw_only=True):
    """A volume to download."""

    name: str
    """Name of the volume."""
    formats: Annotated[tuple[VirtualMachineExportVolumeFormat, ...], list_map("format")] = ()
    """Forms that it comes in: raw and gzip for disks, dir and tar.gz for others."""


class VirtualMachineExportLink(Struct, frozen=True, kw_only=True):
    """Where to download, seen from one side."""

    backups: Annotated[tuple[VirtualMachineExportBackup, ...], list_map("name")] = ()
    """Volumes of a backup."""
    cert: str
    """Authority that signed the server's certificate, in PEM."""
    manifests: Annotated[tuple[VirtualMachineExportManifest, ...], list_map("type")] = ()
    """Manifests to recreate the machine."""
    volumes: Annotated[tuple[VirtualMachineExportVolume, ...], list_map("name")] = ()
    """Volumes to download."""


class VirtualMachineExportLinks(Struct, frozen=True, kw_only=True):
    """Where to download."""

    external: VirtualMachineExportLink | None = None
    """Addresses outside of the cluster; needs an Ingress or Route to virt-exportproxy."""
    internal: VirtualMachineExportLink | None = None
    """Addresses inside the cluster."""


class VirtualMachineExportSpec(Struct, frozen=True, kw_only=True):
    """What to export, and for how long; cannot be changed."""

    source: TypedLocalObjectReference
    """PersistentVolumeClaim, VirtualMachine, VirtualMachineSnapshot or VirtualMachineBackup."""
    token_secret_ref: str | None = None
    """Secret with key token that downloads must show; made if not set."""
    ttl_duration: Duration | None = None
    """Life of the export, which is then deleted; default 2h."""


class VirtualMachineExportStatus(Struct, frozen=True, kw_only=True):
    """Where to download."""

    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    """State in detail."""
    links: VirtualMachineExportLinks | None = None
    """Addresses, once ready."""
    phase: str | None = None
    """Pending, Ready, Terminated or Skipped (nothing to export)."""
    service_name: str | None = None
    """Service in front of the exporter pod."""
    token_secret_ref: str | None = None
    """Secret with the token."""
    ttl_expiration_time: datetime | None = None
    """When the export is deleted."""
    virtual_machine_name: str | None = None
    """Machine that the data is from."""


class VirtualMachineExport(Struct, frozen=True, kw_only=True):
    """Offers the volumes of a stopped machine, snapshot or claim for download."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineExportSpec
    """What to export."""
    status: VirtualMachineExportStatus | None = None
    """Where to download."""
