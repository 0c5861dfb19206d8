"""Watching: libvirt's events, and what each makes us do.

An event is a hint to look; only what a look cannot tell, because it is over, is taken from the event itself: why
the guest stopped, that it rebooted, that a disk failed.
"""

import asyncio
from collections.abc import AsyncIterable
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.guest import Guest
from kubevirt.components.launcher.guest_agent import GuestAgent
from kubevirt.components.launcher.happenings import WARNING, Happenings
from kubevirt.components.launcher.recovery import Recovery
from kubevirt.components.launcher.strays import end_strays_of_former
from kubevirt.host.libvirt.daemon import Daemon
from kubevirt.host.libvirt.errors import NoSuchDomainError
from kubevirt.host.libvirt.events import (
    AgentChanged,
    Change,
    DiskFailed,
    Event,
    LifeChanged,
    Missed,
    Rebooted,
    WatchdogFired,
)
from kubevirt.virt.domain.alias import USER_PREFIX

log = get_logger(__name__)

RETRY_S: Final = 0.1
"""Between two looks, when libvirt went away in the middle of one."""


class Watch:
    def __init__(
        self,
        daemon: Daemon,
        guest: Guest,
        agent: GuestAgent,
        happenings: Happenings,
        recovery: Recovery,
        clock: Clock,
    ) -> None:
        self._daemon = daemon
        self._guest = guest
        self._agent = agent
        self._happenings = happenings
        self._recovery = recovery
        self._clock = clock
        self._is_due = asyncio.Event()

    async def listen(self, events: AsyncIterable[Event]) -> None:
        """Reads quickly, so that a flood of events is one look."""
        async for event in events:
            self._hear(event)
            self._is_due.set()

    async def keep_looking(self) -> None:
        while True:
            await self._is_due.wait()
            self._is_due.clear()
            try:
                await self._guest.look()
                self._agent.channel_is(connected=self._guest.has_agent)
            except NoSuchDomainError:  # it went while we looked
                self._is_due.set()
            except Retry as error:
                log.warning("the guest cannot be seen", error=error)
                self._is_due.set()
                await self._clock.sleep(RETRY_S)
            except UserError:  # it will not look better until something happens to it
                log.exception("the guest cannot be made out")

    def _hear(self, event: Event) -> None:
        log.debug("libvirt says", event=type(event).__name__, what=str(event))
        match event:
            case LifeChanged(change=Change.STOPPED, detail=detail):
                self._guest.stopped(detail)
            case LifeChanged(change=Change.CRASHED, detail=detail):
                self._guest.stopped(detail)
                self._happenings.tell(detail, "the guest's kernel panicked", WARNING)
            case AgentChanged(connected=connected):
                self._guest.agent_changed()
                if not connected:
                    # It may be back before we look: what it told is old all the same.
                    self._agent.channel_is(connected=False)
            case DiskFailed() as failure:
                self._tell_of_disk(failure)
            case WatchdogFired(action=action):
                self._happenings.tell("Watchdog", f"the watchdog fired; action: {action}", WARNING)
                if action == "Poweroff":
                    self._guest.switched_off()
            case Rebooted():
                log.info("the guest rebooted")
                self._guest.was_reset()
            case Missed():
                self._guest.agent_changed()
                end_strays_of_former(self._daemon)
            case _:
                pass

    def _tell_of_disk(self, failure: DiskFailed) -> None:
        """In KubeVirt's own words: dashboards look for them."""
        volume = failure.alias.removeprefix(USER_PREFIX)
        if failure.action != "Pause":
            log.warning("a disk failed", volume=volume, action=failure.action)
        elif failure.reason == "enospc":
            text = f"VM Paused due to not enough space on volume: {volume}"
            self._happenings.tell("IOerror", text, WARNING)
            self._recovery.disk_is_full(failure.path)
        else:
            text = f"VM Paused due to IO error at the volume: {volume}"
            self._happenings.tell("IOerror", text, WARNING)
