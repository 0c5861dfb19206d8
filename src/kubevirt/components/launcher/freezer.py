"""The freezer: file systems that hold still while they are copied, and never for ever.

A guest that is frozen cannot write, and whoever froze it may be gone: so each freeze has an end, which is noted,
and which a manager that was restarted keeps as well.
"""

import asyncio
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.guest_agent import GuestAgent
from kubevirt.components.launcher.notes import Notes
from kubevirt.host.libvirt.agent import Agent

log = get_logger(__name__)

LONGEST_S: Final = 300.0
"""Of a freeze that names no end; KubeVirt's own default."""
RETRY_S: Final = 5.0


class Freezer:
    def __init__(self, agent: Agent, known: GuestAgent, notes: Notes, clock: Clock) -> None:
        self._agent = agent
        self._known = known
        self._notes = notes
        self._clock = clock
        self._changed = asyncio.Event()

    async def freeze(self, thaw_after_s: float) -> None:
        """Freezing what is frozen only moves the end."""
        if not self._known.is_connected:
            raise UserError(
                "the guest has no agent to freeze its file systems; install qemu-guest-agent in it"
            )
        # Noted first: a guest that is frozen by a manager that dies right after it is thawed as well.
        self._notes.remember_thaw(self._clock.monotonic() + (thaw_after_s or LONGEST_S))
        self._changed.set()
        if not await self._agent.is_frozen():
            await self._agent.freeze()
        self._known.ask_again("is_frozen")

    async def thaw(self) -> None:
        await self._agent.thaw()
        self._notes.remember_thaw(None)
        self._known.ask_again("is_frozen")

    async def keep_thawing(self) -> None:
        """Thaws what nobody else does in time."""
        while True:
            due = self._notes.thaw_at
            self._changed.clear()
            if due is None:
                await self._changed.wait()
                continue
            left_s = due - self._clock.monotonic()
            if left_s > 0:
                await self._wait(left_s)
                continue
            try:
                await self.thaw()
                log.warning("the guest was thawed, because nobody else did")
            except KubevirtError as error:
                log.warning("the guest cannot be thawed", error=error)
                await self._clock.sleep(RETRY_S)

    async def _wait(self, seconds: float) -> None:
        """Until then, or until the end was moved."""
        try:
            async with self._clock.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return
