"""VirtualMachineInstancePreset: defaults for instances with certain labels (deprecated)."""

from kubevirt.api.domain import DomainSpec
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import Struct


class VirtualMachineInstancePresetSpec(Struct, frozen=True, kw_only=True):
    """…"""

    domain: DomainSpec | None = None
    selector: LabelSelector


class VirtualMachineInstancePreset(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstancePresetSpec | None = None
