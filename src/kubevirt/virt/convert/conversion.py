"""`convert`: a VMI and the facts, to a domain. No I/O, no clock, no chance: same input, same domain.

The instance should have passed `defaults.with_defaults`; what is missing all the same gets the
architecture's default. A spec that cannot become a guest is refused with a `UserError`; nothing else
is ever raised.
"""

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.convert import (
    balloon,
    boot,
    boot_order,
    channels,
    clock,
    console,
    controllers,
    cpu,
    disks,
    features,
    filesystems,
    graphics,
    host_devices,
    inputs,
    interfaces,
    iothreads,
    memory,
    metadata,
    numa,
    panics,
    rng,
    security,
    sound,
    sysinfo,
    tpm,
    tuning,
    usb_redirection,
    vsock,
    watchdog,
)
from kubevirt.virt.convert.facts import Facts
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.convert.notes import Note
from kubevirt.virt.domain.devices import Devices
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.errors import SpecError, shown

REBOOT_ACTIONS = {None: None, "Reboot": "restart", "Terminate": "destroy"}


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    """A domain, and what its owner should be told about it."""

    domain: Domain
    notes: tuple[Note, ...] = ()


def convert(vmi: VirtualMachineInstance, facts: Facts) -> Conversion:
    guest = Guest(vmi, facts)
    boot_order.check_boot_order(guest)
    notes = (*cpu.notes(guest), *features.notes(guest), *iothreads.notes(guest))
    return Conversion(domain=_domain(guest), notes=notes)


def _domain(guest: Guest) -> Domain:
    return Domain(
        type="kvm" if guest.facts.host.kvm else "qemu",
        name=metadata.domain_name(guest),
        uuid=sysinfo.machine_uuid(guest),
        metadata=metadata.metadata(guest),
        max_memory=memory.max_memory(guest),
        memory=memory.memory(guest),
        memory_backing=memory.memory_backing(guest),
        vcpu=cpu.vcpu(guest),
        vcpus=cpu.vcpus(guest),
        iothreads=iothreads.iothreads(guest).count or None,
        cputune=tuning.cputune(guest),
        numatune=numa.numatune(guest),
        sysinfos=sysinfo.sysinfos(guest),
        os=boot.boot(guest),
        features=features.features(guest),
        cpu=cpu.cpu(guest),
        clock=clock.clock(guest),
        on_reboot=_on_reboot(guest),
        devices=_devices(guest),
        launch_security=security.launch_security(guest),
    )


def _devices(guest: Guest) -> Devices:
    return Devices(
        disks=disks.disks(guest),
        controllers=controllers.controllers(guest),
        filesystems=filesystems.filesystems(guest),
        interfaces=interfaces.interfaces(guest),
        serials=console.serials(guest),
        consoles=console.consoles(guest),
        channels=channels.channels(guest),
        inputs=inputs.inputs(guest),
        tpms=tpm.tpms(guest),
        graphics=graphics.graphics(guest),
        sounds=sound.sounds(guest),
        videos=graphics.videos(guest),
        hostdevs=host_devices.hostdevs(guest),
        redirdevs=usb_redirection.redirected_devices(guest),
        watchdogs=watchdog.watchdogs(guest),
        memballoon=balloon.balloon(guest),
        rngs=rng.rngs(guest),
        panics=panics.panics(guest),
        vsock=vsock.vsock(guest),
    )


def _on_reboot(guest: Guest) -> str | None:
    policy = guest.domain.reboot_policy
    if policy not in REBOOT_ACTIONS:
        raise SpecError(f"rebootPolicy {shown(policy)} is not known; use Reboot or Terminate")
    return REBOOT_ACTIONS[policy]
