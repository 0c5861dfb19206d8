"""The control group of a run: what its processes may use together, where the machine has such groups."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.base.quantity import Quantity
from kubevirt.host.cgroups.detection import detect
from kubevirt.host.cgroups.group import (
    CgroupError,
    CgroupLimits,
    CgroupUnavailableError,
    Group,
)

OVERHEAD_BYTES: Final = 256 << 20
"""What QEMU and its keepers may have beside the guest's memory."""
PIDS: Final = 4096
SHARES_OF_A_CPU: Final = 1024
LEAVING_S: Final = 10.0


def limits_of(vmi: VirtualMachineInstance) -> CgroupLimits:
    """As a kubelet would set them for the launcher's pod."""
    resources = vmi.spec.domain.resources
    limits, requests = resources.limits, resources.requests
    memory, cpu, share = limits.get("memory"), limits.get("cpu"), requests.get("cpu")
    return CgroupLimits(
        cpus=None if cpu is None else _milli(cpu) / 1000,
        cpu_shares=None if share is None else max(_milli(share) * SHARES_OF_A_CPU // 1000, 2),
        memory_bytes=None
        if memory is None
        else Quantity.from_json(memory).value() + OVERHEAD_BYTES,
        pids=PIDS,
    )


def _milli(value: str | int) -> int:
    return Quantity.from_json(value).milli_value()


@asynccontextmanager
async def limited(name: str, wanted: CgroupLimits, clock: Clock) -> AsyncIterator[Group | None]:
    """A group of that name. A machine that has none is no hindrance, unless limits were asked for."""
    try:
        group = detect().create("", name, wanted)
    except (CgroupUnavailableError, CgroupError):
        await remove(name, clock)
        if wanted.memory_bytes is not None or wanted.cpus is not None:
            raise
        yield None
        return
    try:
        yield group
    finally:
        await remove(name, clock)


async def remove(name: str, clock: Clock) -> None:
    """The group with all that is in it; also what a dead run left."""
    try:
        group = detect().open("", name)
    except CgroupUnavailableError:
        return
    await group.kill(clock)
    # Who was killed leaves its group a moment later, and there is no event for that.
    async with clock.timeout(LEAVING_S):
        while not _is_removed(group):
            await clock.sleep(0.01)


def _is_removed(group: Group) -> bool:
    try:
        group.remove()
    except CgroupError:
        return False
    return True


def take_in(group: Group | None, pid: int) -> None:
    """A process that is gone already is not limited any more."""
    if group is not None:
        with suppress(CgroupError, ProcessLookupError):
            group.add(pid)
