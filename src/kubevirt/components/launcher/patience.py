"""Patience: a call that libvirt's daemon died under is made again when the daemon is back.

The hypervisor does so for questions. A launcher's orders may be repeated as well: pausing what is paused, or
ending what has ended, does no harm, and a handler should not have to know that a daemon was away. What starts
something, a guest or a program in it, decides for itself.
"""

from typing import TypeVar

from kubevirt.host.libvirt.connection import CALL_LIMIT_S, Caller, Work

T = TypeVar("T")


class PatientCaller:
    """A `Caller` above another, to which everything is repeatable."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def call(
        self,
        doing: str,
        work: Work[T],
        *,
        limit_s: float = CALL_LIMIT_S,
        repeatable: bool = True,  # noqa: ARG002  # whoever says no is overruled
    ) -> T:
        return await self._caller.call(doing, work, limit_s=limit_s, repeatable=True)
