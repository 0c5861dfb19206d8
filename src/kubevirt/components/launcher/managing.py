"""Managing: the parts of the manager, put together, from its start to the end of the guest."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background, first_of
from kubevirt.components.launcher.freezer import Freezer
from kubevirt.components.launcher.grace import Grace
from kubevirt.components.launcher.guest import Guest
from kubevirt.components.launcher.guest_agent import GuestAgent
from kubevirt.components.launcher.happenings import Happenings
from kubevirt.components.launcher.memory_dump import MemoryDumps
from kubevirt.components.launcher.notes import Notes
from kubevirt.components.launcher.notifier import Notifier
from kubevirt.components.launcher.picture import Picture
from kubevirt.components.launcher.power import Power
from kubevirt.components.launcher.preparer import Preparer
from kubevirt.components.launcher.qemu import Qemu
from kubevirt.components.launcher.service import Service
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.watching import Watch
from kubevirt.host.libvirt.agent import Agent
from kubevirt.host.libvirt.daemon import Daemon
from kubevirt.host.libvirt.hypervisor import hypervisor
from kubevirt.rpc import cmd, notify, serving
from kubevirt.rpc.calling import Caller

log = get_logger(__name__)

OVER: Final = 0
USELESS: Final = 64


async def manage(settings: Settings, notes: Notes, preparer: Preparer | None, clock: Clock) -> int:
    """Until the guest is over. Returns the exit code."""
    asked_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked_to_end.set)
    if notes.is_asked_to_end:
        asked_to_end.set()
    daemon = Daemon(settings.libvirt)
    async with (
        hypervisor(daemon.socket, clock=clock) as virt,
        Caller(settings.layout.notify_socket, "virt-handler") as caller,
    ):
        notifier = Notifier(notify.Handler(caller), clock)
        happenings = Happenings(settings, notifier, clock)
        picture = Picture(settings, notifier)
        qemu = Qemu(virt, kvm=settings.kvm)
        guest = Guest(
            settings=settings,
            hypervisor=virt,
            preparer=preparer,
            qemu=qemu,
            notes=notes,
            picture=picture,
            happenings=happenings,
            clock=clock,
        )
        asking = Agent(virt, guest.domain.name, clock=clock)
        agent = GuestAgent(asking, picture, clock)
        freezer = Freezer(asking, agent, notes, clock)
        power = Power(guest.domain, agent, clock)
        watch = Watch(daemon, guest, agent, happenings, clock)
        grace = Grace(settings, guest, power, notes, clock)
        async with asyncio.TaskGroup() as tasks:
            dumps = MemoryDumps(guest, tasks, clock)
            service = Service(
                guest=guest,
                power=power,
                picture=picture,
                agent=agent,
                asking=asking,
                freezer=freezer,
                dumps=dumps,
                qemu=qemu,
                tasks=tasks,
            )
            async with (
                background(
                    notifier.run(),
                    watch.listen(virt.events),
                    watch.keep_looking(),
                    agent.keep_asking(),
                    freezer.keep_thawing(),
                    dumps.take_up(),
                ),
                _served(settings, service),
            ):
                code = await first_of(
                    _over(guest),
                    _asked_to_end(asked_to_end, guest, grace, notes),
                    _no_guest_in_time(settings, guest, notes, clock),
                )
                await _say_goodbye(settings, notifier, clock)
    return code


@asynccontextmanager
async def _served(settings: Settings, service: Service) -> AsyncIterator[None]:
    """The socket gets its name when it is listened at: whoever finds it is answered."""
    unready, ready = settings.layout.unready_command_socket, settings.layout.command_socket
    async with serving.serving(unready, {cmd.SERVICE: service, cmd.INFO_SERVICE: service}):
        _rename(unready, ready)
        yield


def _rename(old: str, new: str) -> None:
    Path(old).replace(new)


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
