"""The memory dump: a copy of the guest's memory, made beside everything else.

A dump takes minutes, so the call that begins one returns at once. How it stands is kept in the domain's own
metadata and so in every report; a manager that is killed meanwhile leaves a dump that nobody waits for, and its
successor says so.
"""

import asyncio
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.grace import timestamp
from kubevirt.components.launcher.guest import Guest
from kubevirt.virt.domain.metadata import Kubevirt, MemoryDump

log = get_logger(__name__)

TRUE: Final = "true"
REASON_LIMIT: Final = 500


class MemoryDumps:
    def __init__(self, guest: Guest, tasks: asyncio.TaskGroup, clock: Clock) -> None:
        self._guest = guest
        self._tasks = tasks
        self._clock = clock
        self._is_busy = False

    async def begin(self, path: str) -> None:
        """Into a new file at `path`. Asking again for the one that is under way or done is harmless."""
        file = Path(path)
        if not file.is_absolute() or ".." in file.parts:
            raise UserError(f"a memory dump needs the whole path of its file, not {path!r}")
        last = (await self._metadata()).memory_dump
        if last and last.file_name == file.name and (self._is_busy or last.completed == TRUE):
            return
        if self._is_busy:
            raise UserError("another memory dump is under way; wait for its end")
        if not await asyncio.to_thread(file.parent.is_dir):
            raise UserError(f"there is no folder {file.parent} for a memory dump; is it mounted?")
        self._is_busy = True
        began = timestamp(self._clock.now())
        await self._note(MemoryDump(file_name=file.name, start_timestamp=began))
        self._tasks.create_task(self._dump(file))

    async def take_up(self) -> None:
        """After a restart: a dump that nobody waited for has failed, whatever is in its file."""
        await self._guest.has_started.wait()
        try:
            await self._give_up_the_last()
        except KubevirtError as error:
            log.warning("whether a memory dump was under way is not known", error=error)

    async def _give_up_the_last(self) -> None:
        last = (await self._metadata()).memory_dump
        if last and last.completed != TRUE and not self._is_busy:
            await self._is_over("the launcher's manager was restarted meanwhile; begin it again")

    async def _dump(self, file: Path) -> None:
        try:
            await self._guest.domain.dump_memory(file)
        except KubevirtError as error:
            log.warning("a memory dump failed", error=error)
            await self._try_to_note(str(error))
        else:
            await self._try_to_note("")
        finally:
            self._is_busy = False

    async def _try_to_note(self, failure: str) -> None:
        try:
            await self._is_over(failure)
        except KubevirtError as error:  # the guest has ended, so nobody will ask
            log.warning("the end of a memory dump could not be noted", error=error)

    async def _is_over(self, failure: str) -> None:
        last = (await self._metadata()).memory_dump or MemoryDump()
        await self._note(
            replace(
                last,
                end_timestamp=timestamp(self._clock.now()),
                completed=TRUE,
                failed=TRUE if failure else None,
                failure_reason=failure[:REASON_LIMIT] or None,
            )
        )

    async def _metadata(self) -> Kubevirt:
        return await self._guest.domain.metadata() or Kubevirt()

    async def _note(self, dump: MemoryDump) -> None:
        metadata = await self._metadata()
        await self._guest.domain.set_metadata(replace(metadata, memory_dump=dump))
        await self._guest.look()
