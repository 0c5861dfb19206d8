"""What a container may use, from what its pod says: the numbers that a kubelet would write."""

from collections.abc import Mapping
from typing import Final

from kubevirt.api.core.container import ResourceRequirements
from kubevirt.api.struct import Quantity as WrittenQuantity
from kubevirt.base.quantity import Quantity
from kubevirt.host.cgroups.group import CgroupLimits

_SHARES_PER_CPU: Final = 1024
_SHARES: Final = (2, 262_144)
"""The least and the most that the kernel takes. The least is for who asks for nothing."""


def limits_of(resources: ResourceRequirements | None) -> CgroupLimits:
    if resources is None:
        return CgroupLimits(cpu_shares=_SHARES[0])
    allowed = _amount(resources.limits, "cpu")
    asked = _amount(resources.requests, "cpu") or allowed
    memory = _amount(resources.limits, "memory")
    return CgroupLimits(
        cpus=allowed.milli_value() / 1000 if allowed else None,
        cpu_shares=_shares(asked.milli_value() if asked else 0),
        memory_bytes=memory.value() if memory else None,
    )


def _shares(milli: int) -> int:
    least, most = _SHARES
    return min(max(milli * _SHARES_PER_CPU // 1000, least), most)


def _amount(amounts: Mapping[str, WrittenQuantity], name: str) -> Quantity | None:
    """None also for zero, which means no limit."""
    found = Quantity.from_json(amounts[name]) if name in amounts else None
    return found if found and found.nanos > 0 else None
