"""Instance types and preferences that a machine would take from its volume, if that named one.

`virtctl create vm` asks for both whenever a guest boots from a claim, and adds that a failure is to be ignored. While
neither is built each inference fails, so such a wish is left out with a word about it, as KubeVirt leaves out one that
came to nothing. Whoever insists (`Reject`, or a name) is refused: `validate/machine.py`.
"""

from collections.abc import Collection
from typing import Final

from kubevirt.api.machine import InstancetypeMatcher, PreferenceMatcher, VirtualMachineSpec
from kubevirt.virt.defaults.patch import Operation

IGNORE: Final = "Ignore"


def vain(spec: VirtualMachineSpec, built: Collection[str]) -> tuple[str, ...]:
    """The keys below `spec` that come to nothing."""
    matchers = (
        ("instancetype", "instancetypes", spec.instancetype),
        ("preference", "preferences", spec.preference),
    )
    return tuple(
        key for key, feature, matcher in matchers if feature not in built and _is_a_try(matcher)
    )


def left_out(keys: Collection[str]) -> tuple[Operation, ...]:
    return tuple(Operation("remove", f"/spec/{key}") for key in keys)


def warnings(keys: Collection[str]) -> tuple[str, ...]:
    return tuple(
        f"spec.{key} is left out, as its inferFromVolumeFailurePolicy is {IGNORE}: instance types "
        f"and preferences are not built yet, so none can be inferred from a volume"
        for key in keys
    )


def _is_a_try(matcher: InstancetypeMatcher | PreferenceMatcher | None) -> bool:
    return (
        matcher is not None
        and not matcher.name
        and bool(matcher.infer_from_volume)
        and matcher.infer_from_volume_failure_policy == IGNORE
    )
