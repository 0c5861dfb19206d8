"""VirtualMachineClone: a copy of a machine or of a snapshot."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.snapshot import Condition
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Struct


class VirtualMachineCloneTemplateFilters(Struct, frozen=True, kw_only=True):
    """…"""

    annotation_filters: Annotated[tuple[str, ...], ATOMIC] = ()
    label_filters: Annotated[tuple[str, ...], ATOMIC] = ()


class VirtualMachineCloneSpec(Struct, frozen=True, kw_only=True):
    """…"""

    annotation_filters: Annotated[tuple[str, ...], ATOMIC] = ()
    label_filters: Annotated[tuple[str, ...], ATOMIC] = ()
    new_mac_addresses: Mapping[str, str] = NO_ENTRIES
    new_sm_bios_serial: str | None = field(default=None, name="newSMBiosSerial")
    patches: Annotated[tuple[str, ...], ATOMIC] = ()
    source: TypedLocalObjectReference
    target: TypedLocalObjectReference | None = None
    template: VirtualMachineCloneTemplateFilters = VirtualMachineCloneTemplateFilters()
    volume_name_policy: str | None = None


class VirtualMachineCloneStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: Annotated[tuple[Condition, ...], ATOMIC] = ()
    creation_time: datetime | None = None
    phase: str | None = None
    restore_name: str | None = None
    snapshot_name: str | None = None
    target_name: str | None = None


class VirtualMachineClone(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineCloneSpec
    status: VirtualMachineCloneStatus = VirtualMachineCloneStatus()
