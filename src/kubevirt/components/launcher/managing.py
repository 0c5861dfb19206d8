"""Managing: the life of a manager, from its start to the end of the guest."""

import asyncio
import signal
from pathlib import Path
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background, first_of
from kubevirt.components.launcher.commission import Commission
from kubevirt.components.launcher.grace import Grace
from kubevirt.components.launcher.guest import Guest
from kubevirt.components.launcher.notes import Notes
from kubevirt.components.launcher.notifier import Notifier
from kubevirt.components.launcher.parts import Parts, put_together
from kubevirt.components.launcher.preparer import Preparer
from kubevirt.components.launcher.settings import Settings
from kubevirt.host.libvirt.daemon import Daemon
from kubevirt.host.libvirt.hypervisor import hypervisor

log = get_logger(__name__)

OVER: Final = 0
USELESS: Final = 64


async def manage(settings: Settings, notes: Notes, preparer: Preparer | None, clock: Clock) -> int:
    """Until the guest is over. Returns the exit code."""
    asked_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked_to_end.set)
    if notes.is_asked_to_end:
        asked_to_end.set()
    socket = Daemon(settings.libvirt).socket
    async with hypervisor(socket, clock=clock) as virt, asyncio.TaskGroup() as tasks:
        parts = put_together(settings, notes, preparer, virt, tasks, clock)
        async with background(
            parts.watch.listen(virt.events),
            parts.watch.keep_looking(),
            parts.recovery.keep_resuming(),
            parts.agent.keep_asking(),
            parts.freezer.keep_thawing(),
            parts.dumps.take_up(),
            _talk(settings, parts),
        ):
            code = await first_of(
                _over(parts.guest),
                _asked_to_end(asked_to_end, parts.guest, parts.grace, notes),
                _no_guest_in_time(settings, parts.guest, notes, clock),
            )
            await _say_goodbye(settings, parts.notifier, clock)
    return code


async def _talk(settings: Settings, parts: Parts) -> None:
    """With whoever calls; a guest that was commissioned comes first."""
    if settings.commissioned:
        commission = Commission(settings.layout.share)
        await commission.carried_out(lambda instance: parts.guest.sync(instance, None))
    # A weighty import, which most of a start can do without.
    from kubevirt.components.launcher.talking import talk  # noqa: PLC0415

    await talk(settings, parts)


async def _over(guest: Guest) -> int:
    await asyncio.shield(guest.over)
    return OVER


async def _asked_to_end(asked: asyncio.Event, guest: Guest, grace: Grace, notes: Notes) -> int:
    await asked.wait()
    if await guest.close():
        await grace.end()
    if notes.has_started:
        return await _over(guest)
    notes.tell_ending("the launcher was asked to end before it had a guest")
    return OVER


async def _no_guest_in_time(settings: Settings, guest: Guest, notes: Notes, clock: Clock) -> int:
    try:
        async with clock.timeout(settings.qemu_timeout_s):
            await guest.has_started.wait()
    except TimeoutError:
        if await guest.close():  # it was about to start
            return await _over(guest)
        why = guest.last_refusal or "virt-handler did not ask for one"
        notes.tell_ending(f"no guest was started within {settings.qemu_timeout_s:g} s: {why}")
        return USELESS
    return await _over(guest)


async def _say_goodbye(settings: Settings, notifier: Notifier, clock: Clock) -> None:
    if settings.standalone and not _is_there(settings.layout.notify_socket):
        return  # nobody wants to know
    try:
        async with clock.timeout(settings.farewell_s):
            await notifier.told_everything()
    except TimeoutError:
        log.warning("the handler did not hear of the end", waited_s=settings.farewell_s)


def _is_there(path: str) -> bool:
    return Path(path).exists()
