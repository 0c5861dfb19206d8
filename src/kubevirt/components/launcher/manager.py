"""The manager: the process of a launcher that answers the handler and looks after the guest.

    python -I -m kubevirt.components.launcher.manager SETTINGS.json

It may be killed at any moment. The monitor starts it again, and it finds the guest as it is: all that it must
know is in libvirt, in the notes and in the settings. It ends with 0 when there is nothing left to look after.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kubevirt.base import log as logs
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.errors import ConfigError
from kubevirt.base.tasks import background, first_of
from kubevirt.components.launcher import settings as settings_file
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
from kubevirt.components.launcher.preparation import Preparation
from kubevirt.components.launcher.qemu import Qemu
from kubevirt.components.launcher.service import Service
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.watching import Watch
from kubevirt.host.libvirt.agent import Agent
from kubevirt.host.libvirt.daemon import Daemon
from kubevirt.host.libvirt.hypervisor import hypervisor
from kubevirt.rpc import cmd, notify, serving
from kubevirt.rpc.calling import Caller

log = logs.get_logger(__name__)

OVER: Final = 0
USELESS: Final = 64
"""Another start of the manager would not help."""
FAREWELL_S: Final = 15.0
"""For the handler to hear of the end, as upstream."""


async def manage(settings: Settings, clock: Clock) -> int:
    """Until the guest is over. Returns the exit code."""
    notes = Notes(settings.folder)
    asked_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked_to_end.set)
    if notes.is_asked_to_end:
        asked_to_end.set()
    layout = settings.layout
    async with (
        hypervisor(Daemon(settings.libvirt).socket, clock=clock) as virt,
        Caller(layout.notify_socket, "virt-handler") as caller,
    ):
        notifier = Notifier(notify.Handler(caller), clock)
        happenings = Happenings(settings, notifier, clock)
        picture = Picture(settings, notifier)
        qemu = Qemu(virt)
        preparation = Preparation(settings, qemu.offers)
        guest = Guest(settings, virt, preparation, notes, picture, happenings, clock)
        asking = Agent(virt, guest.domain.name, clock=clock)
        agent = GuestAgent(asking, picture, clock)
        freezer = Freezer(asking, agent, notes, clock)
        power = Power(guest.domain, agent, clock)
        watch = Watch(guest, agent, happenings, clock)
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
    if not await guest.close():
        notes.tell_ending("the launcher was asked to end before it had a guest")
        return OVER
    await grace.end()
    return await _over(guest)


async def _no_guest_in_time(settings: Settings, guest: Guest, notes: Notes, clock: Clock) -> int:
    try:
        async with clock.timeout(settings.qemu_timeout_s):
            await guest.has_started.wait()
    except TimeoutError:
        why = guest.last_refusal or "virt-handler did not ask for one"
        notes.tell_ending(f"no guest was started within {settings.qemu_timeout_s:g} s: {why}")
        return USELESS
    return await _over(guest)


async def _say_goodbye(settings: Settings, notifier: Notifier, clock: Clock) -> None:
    if settings.standalone and not _is_there(settings.layout.notify_socket):
        return  # nobody wants to know
    try:
        async with clock.timeout(FAREWELL_S):
            await notifier.told_everything()
    except TimeoutError:
        log.warning("the handler did not hear of the end", waited_s=FAREWELL_S)


def _is_there(path: str) -> bool:
    return Path(path).exists()


def main(argv: list[str]) -> int:
    try:
        settings = settings_file.read(argv[0])
    except ConfigError as error:
        print(f"virt-launcher: {error}", file=sys.stderr)  # noqa: T201  # there are no logs yet
        return USELESS
    logs.configure("virt-launcher", settings.verbosity)
    return asyncio.run(manage(settings, SystemClock()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
