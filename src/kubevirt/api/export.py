"""VirtualMachineExport: download of volumes and manifests."""

from datetime import datetime
from typing import Annotated

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, Duration, Struct, list_map


class Condition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class VirtualMachineExportBackupEndpoint(Struct, frozen=True, kw_only=True):
    """…"""

    endpoint: str
    url: str


class VirtualMachineExportBackup(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    endpoints: Annotated[tuple[VirtualMachineExportBackupEndpoint, ...], list_map("endpoint")] = ()


class VirtualMachineExportManifest(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    url: str


class VirtualMachineExportVolumeFormat(Struct, frozen=True, kw_only=True):
    """…"""

    format: str
    url: str


class VirtualMachineExportVolume(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    formats: Annotated[tuple[VirtualMachineExportVolumeFormat, ...], list_map("format")] = ()


class VirtualMachineExportLink(Struct, frozen=True, kw_only=True):
    """…"""

    backups: Annotated[tuple[VirtualMachineExportBackup, ...], list_map("name")] = ()
    cert: str
    manifests: Annotated[tuple[VirtualMachineExportManifest, ...], list_map("type")] = ()
    volumes: Annotated[tuple[VirtualMachineExportVolume, ...], list_map("name")] = ()


class VirtualMachineExportLinks(Struct, frozen=True, kw_only=True):
    """…"""

    external: VirtualMachineExportLink | None = None
    internal: VirtualMachineExportLink | None = None


class VirtualMachineExportSpec(Struct, frozen=True, kw_only=True):
    """…"""

    source: TypedLocalObjectReference
    token_secret_ref: str | None = None
    ttl_duration: Duration | None = None


class VirtualMachineExportStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    links: VirtualMachineExportLinks | None = None
    phase: str | None = None
    service_name: str | None = None
    token_secret_ref: str | None = None
    ttl_expiration_time: datetime | None = None
    virtual_machine_name: str | None = None


class VirtualMachineExport(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineExportSpec
    status: VirtualMachineExportStatus | None = None
