"""Starts that end before the guest ran: each is followed by a longer pause than the one before.

10 s x n², up to half of it more, never above five minutes. How much more follows from the UID of the
instance that failed: spread over machines, and the same however often it is computed.
"""

import zlib
from datetime import datetime, timedelta
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStartFailure
from kubevirt.virt.instance import phases
from kubevirt.virt.machine import strategy as strategies

BASE_S: Final = 10
LIMIT_S: Final = 300


def delay_s(failures: int, uid: str) -> int:
    plain = min(BASE_S * failures**2, LIMIT_S)
    more = zlib.crc32(uid.encode()) % (plain // 2 + 1)
    return min(plain + more, LIMIT_S)


def failed_to_start(vmi: VirtualMachineInstance) -> bool:
    return phases.is_final(vmi) and not phases.has_run(vmi)


def of(
    vm: VirtualMachine, strategy: str, vmi: VirtualMachineInstance | None, now: datetime
) -> VirtualMachineStartFailure | None:
    """The record of failures as it should be."""
    before = vm.status.start_failure
    if strategy not in strategies.BACKING_OFF:
        return None
    if vmi is None:
        return before
    if phases.has_run(vmi):
        return None
    is_known = before is not None and before.last_failed_vmiuid == vmi.metadata.uid
    if is_known or not failed_to_start(vmi) or _was_asked_to_end(vm, vmi):
        return before
    count = (before.consecutive_fail_count or 0) + 1 if before else 1
    pause = timedelta(seconds=delay_s(count, vmi.metadata.uid))
    return VirtualMachineStartFailure(
        consecutive_fail_count=count,
        last_failed_vmiuid=vmi.metadata.uid,
        retry_after_timestamp=now + pause,
    )


def _was_asked_to_end(vm: VirtualMachine, vmi: VirtualMachineInstance) -> bool:
    """One that was deleted before it ran has not failed at anything, unless its pod did before."""
    since, ended = vmi.metadata.deletion_timestamp, phases.ended_at(vmi)
    if since is None or ended is None:
        return False
    return vm.metadata.deletion_timestamp is not None or since <= ended


def until(failure: VirtualMachineStartFailure | None, now: datetime) -> datetime | None:
    """When the next start may be; None if now."""
    retry = failure.retry_after_timestamp if failure else None
    return retry if retry is not None and retry > now else None
