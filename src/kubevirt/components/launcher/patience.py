"""Patience: a call that libvirt's daemon died under is made again when the daemon is back.

Only for calls that may be made twice: questions, and orders like "pause". What runs a program in the guest, or
starts one, decides for itself.
"""

from typing import TypeVar

from kubevirt.base.clock import Clock
from kubevirt.host.libvirt.connection import CALL_LIMIT_S, Caller, Work
from kubevirt.host.libvirt.errors import DaemonUnreachableError

T = TypeVar("T")


class PatientCaller:
    """A `Caller` above another. The limit holds for both tries together."""

    def __init__(self, caller: Caller, clock: Clock) -> None:
        self._caller = caller
        self._clock = clock

    async def call(self, doing: str, work: Work[T], *, limit_s: float = CALL_LIMIT_S) -> T:
        deadline = self._clock.monotonic() + limit_s
        try:
            return await self._caller.call(doing, work, limit_s=limit_s)
        except DaemonUnreachableError:
            # A daemon that hangs has used up the time; one that died is back in a moment.
            left_s = deadline - self._clock.monotonic()
            if left_s <= 0:
                raise
            return await self._caller.call(doing, work, limit_s=left_s)
