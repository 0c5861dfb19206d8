"""The parts of a manager, put together: all that looks after the guest, whoever asks for it."""

import asyncio
from dataclasses import dataclass

from kubevirt.base.clock import Clock
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
from kubevirt.components.launcher.recovery import Recovery
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.watching import Watch
from kubevirt.host.libvirt.agent import Agent
from kubevirt.host.libvirt.daemon import Daemon
from kubevirt.host.libvirt.hypervisor import Hypervisor


@dataclass(frozen=True, kw_only=True)
class Parts:
    guest: Guest
    power: Power
    grace: Grace
    watch: Watch
    recovery: Recovery
    agent: GuestAgent
    """What it has told, and will be asked."""
    asking: Agent
    """The way to it."""
    freezer: Freezer
    dumps: MemoryDumps
    qemu: Qemu
    picture: Picture
    notifier: Notifier
    tasks: asyncio.TaskGroup
    """For work that outlives the call that began it."""


def put_together(
    settings: Settings,
    notes: Notes,
    preparer: Preparer | None,
    hypervisor: Hypervisor,
    tasks: asyncio.TaskGroup,
    clock: Clock,
) -> Parts:
    notifier = Notifier(clock)
    happenings = Happenings(settings, notifier, clock)
    picture = Picture(settings, notifier)
    qemu = Qemu(hypervisor, kvm=settings.kvm)
    guest = Guest(
        settings=settings,
        hypervisor=hypervisor,
        preparer=preparer,
        qemu=qemu,
        notes=notes,
        picture=picture,
        happenings=happenings,
        clock=clock,
    )
    asking = Agent(hypervisor, guest.domain.name, clock=clock)
    agent = GuestAgent(asking, picture, clock)
    power = Power(guest.domain, agent, clock)
    recovery = Recovery(guest.domain, clock)
    return Parts(
        guest=guest,
        power=power,
        grace=Grace(settings, guest, power, notes, clock),
        watch=Watch(Daemon(settings.libvirt), guest, agent, happenings, recovery, clock),
        recovery=recovery,
        agent=agent,
        asking=asking,
        freezer=Freezer(asking, agent, notes, clock),
        dumps=MemoryDumps(guest, tasks, clock),
        qemu=qemu,
        picture=picture,
        notifier=notifier,
        tasks=tasks,
    )
