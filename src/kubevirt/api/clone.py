"""VirtualMachineClone: a copy of a machine or of a snapshot."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.snapshot import Condition
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, NULLABLE, Struct, enum


class VirtualMachineCloneTemplateFilters(Struct, frozen=True, kw_only=True):
    """What is copied of the metadata in spec.template."""

    annotation_filters: Annotated[tuple[str, ...], ATOMIC] = ()
    """Keys to keep, as patterns; a leading ! drops. All if empty."""
    label_filters: Annotated[tuple[str, ...], ATOMIC] = ()
    """Keys to keep, as patterns; a leading ! drops. All if empty."""


class VirtualMachineCloneSpec(Struct, frozen=True, kw_only=True):
    """What to clone, and what to change in the copy; cannot be changed."""

    annotation_filters: Annotated[tuple[str, ...], ATOMIC] = ()
    """Annotations to keep, as patterns; a leading ! drops, as in !some/key*. All if empty."""
    label_filters: Annotated[tuple[str, ...], ATOMIC] = ()
    """Labels to keep, as patterns; a leading ! drops, as in !some/key*. All if empty."""
    new_mac_addresses: Mapping[str, str] = NO_ENTRIES
    """MAC addresses by interface name; new ones for all others."""
    new_sm_bios_serial: str | None = field(default=None, name="newSMBiosSerial")
    """Serial number in SMBIOS; a new one if not set."""
    patches: Annotated[tuple[str, ...], ATOMIC] = ()
    """JSON patches for the copy, one text each."""
    source: TypedLocalObjectReference
    """VirtualMachine (kubevirt.io) or VirtualMachineSnapshot (snapshot.kubevirt.io)."""
    target: TypedLocalObjectReference | None = None
    """The new VirtualMachine; gets a random name if not set, see status.targetName."""
    template: VirtualMachineCloneTemplateFilters = VirtualMachineCloneTemplateFilters()
    """The same filters for the metadata of the template."""
    volume_name_policy: Annotated[str | None, enum("RandomizeNames", "PrefixTargetName")] = None
    """Names of new claims: RandomizeNames (default) or PrefixTargetName."""


class VirtualMachineCloneStatus(Struct, frozen=True, kw_only=True):
    """How far the clone is."""

    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    """State in detail."""
    creation_time: Annotated[datetime | None, NULLABLE] = None
    """When the clone was done."""
    phase: str | None = None
    """SnapshotInProgress, CreatingTargetVM, RestoreInProgress, Succeeded, Failed or Unknown."""
    restore_name: Annotated[str | None, NULLABLE] = None
    """VirtualMachineRestore at work."""
    snapshot_name: Annotated[str | None, NULLABLE] = None
    """VirtualMachineSnapshot that the copy is made from."""
    target_name: Annotated[str | None, NULLABLE] = None
    """Name of the new machine."""


class VirtualMachineClone(Struct, frozen=True, kw_only=True):
    """Copies a machine, disks included, by way of a snapshot."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineCloneSpec
    """What to clone."""
    status: VirtualMachineCloneStatus = VirtualMachineCloneStatus()
    """How far it is."""
