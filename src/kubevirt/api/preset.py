"""VirtualMachineInstancePreset: defaults for instances with certain labels (deprecated)."""

from kubevirt.api.domain import DomainSpec
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import Struct


class VirtualMachineInstancePresetSpec(Struct, frozen=True, kw_only=True):
    """Which instances get which settings."""

    domain: DomainSpec | None = None
    """Settings merged into the instance; a conflicting value of the instance wins."""
    selector: LabelSelector
    """Instances that the preset applies to, when they are created."""


class VirtualMachineInstancePreset(Struct, frozen=True, kw_only=True):
    """Deprecated: settings for new instances with certain labels; use instance types and
    preferences.
    """

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstancePresetSpec | None = None
    """Which instances get which settings."""
