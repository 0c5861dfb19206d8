"""Recovery: a guest that a full disk has stopped goes on when there is room again, without anybody's help.

QEMU stops a guest whose disk cannot be written and keeps the write, so nothing is lost: it is tried again when the guest
goes on. The kernel does not tell when room is made, so it is looked for, and only while a guest stands still.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UserError
from kubevirt.base.log import get_logger
from kubevirt.host.libvirt.domain import LiveDomain
from kubevirt.host.libvirt.states import State

log = get_logger(__name__)

LOOK_S: Final = 2.0
ROOM_BYTES: Final = 8 << 20
"""With less it would stand still again at once."""
BY_DISK: Final = "IOError"


class Recovery:
    def __init__(self, domain: LiveDomain, clock: Clock) -> None:
        self._domain = domain
        self._clock = clock
        self._full: set[str] = set()
        self._is_due = asyncio.Event()

    def disk_is_full(self, path: str) -> None:
        self._full.add(path)
        self._is_due.set()

    async def keep_resuming(self) -> None:
        with suppress(Retry, UserError):
            if await self._stands_still():  # since before we came: what it waits for is found out
                self.disk_is_full("")
        while True:
            await self._is_due.wait()
            await self._clock.sleep(
                LOOK_S
            )  # libvirt tells of the disk before the guest stands still
            try:
                await self._try()
            except (Retry, UserError) as error:
                log.info("the guest cannot go on yet", error=error)
            if not self._full:
                self._is_due.clear()

    async def _stands_still(self) -> bool:
        state = await self._domain.state()
        return (state.state, state.reason) == (State.PAUSED, BY_DISK)

    async def _try(self) -> None:
        if not await self._stands_still():
            self._full.clear()  # somebody else has let it go on, or it is over
        elif all(_has_room(path) for path in self._full):
            full, self._full = self._full, set()  # it may stand still again at once
            try:
                await self._domain.resume()
            except BaseException:
                self._full |= full
                raise
            log.info("there is room again, and the guest goes on")


def _has_room(path: str) -> bool:
    """One that is not there cannot be looked at, and is tried."""
    try:
        usage = os.statvfs(Path(path).parent)
    except OSError:
        return True
    return usage.f_bavail * usage.f_frsize >= ROOM_BYTES
