"""What virt-handler says of an instance, from what its guest does. Pure.

    status = told(vmi, seen, clock.now())

The phase follows the domain: alive is Running; off is Succeeded or Failed, by the reason. A guest that
was asked to shut down, could have, had the time to and was destroyed in the end has failed.
"""

from datetime import datetime

from msgspec.structs import replace

from kubevirt.api.domain import Machine
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import (
    VirtualMachineInstanceCondition,
    VirtualMachineInstanceStatus,
    VolumeStatus,
)
from kubevirt.virt.conditions import (
    AGENT_CONNECTED,
    FALSE,
    PAUSED,
    REBOOTED,
    SYNCHRONIZED,
    TRUE,
    Told,
    found,
    with_told,
)
from kubevirt.virt.happening import Happening
from kubevirt.virt.instance import agent, happenings, interfaces, migratable, phases
from kubevirt.virt.instance import domain as domains
from kubevirt.virt.instance.domain import DomainSeen, GuestSeen

DEFAULT_GRACE_S = 30
UNSUPPORTED = "AgentVersionNotSupported"
"""Said of an agent that cannot do what is needed of it; the name is upstream's, of a time when it went by versions."""


def told(
    vmi: VirtualMachineInstance, seen: GuestSeen, now: datetime
) -> VirtualMachineInstanceStatus:
    if phases.is_final(vmi):  # what was told of its end stays, whoever told it
        return vmi.status
    second = now.replace(microsecond=0)  # what is stored has no fractions
    status = phases.with_phase(vmi.status, phase(vmi, seen), second)
    if seen.domain is not None:
        status = _with_facts(vmi, status, seen, seen.domain)
    return replace(status, conditions=_conditions(vmi, status, seen, second))


def phase(vmi: VirtualMachineInstance, seen: GuestSeen) -> str:
    now = vmi.status.phase or phases.PENDING
    if now in phases.FINAL:
        return now
    if seen.is_launcher_lost:
        return phases.FAILED
    if seen.domain is None:
        # One that ran and is not there any more ended in a way that nobody saw; one that is deleted
        # before it was brought about never will be.
        is_over = now == phases.RUNNING or phases.is_ending(vmi)
        return phases.FAILED if is_over else now
    return _of_domain(vmi, seen.domain, now)


def _of_domain(vmi: VirtualMachineInstance, domain: DomainSeen, now: str) -> str:
    if domain.state in domains.ALIVE:
        return phases.FAILED if domain.reason == "PostcopyFailed" else phases.RUNNING
    if domain.state == domains.CRASHED:
        return phases.FAILED
    if domain.state != domains.SHUT_OFF:
        return now
    match domain.reason:
        case "Shutdown" | "Saved" | "FromSnapshot":
            return phases.SUCCEEDED
        case "Destroyed":
            return phases.FAILED if _could_have_shut_down(vmi) else phases.SUCCEEDED
        case "Crashed" | "Panicked" | "Failed" | "Daemon":
            return phases.FAILED
        case _:  # Migrated: it runs elsewhere. Unknown: it was defined and is about to start.
            return now


def _could_have_shut_down(vmi: VirtualMachineInstance) -> bool:
    features = vmi.spec.domain.features
    has_acpi = features is not None and features.acpi.enabled is not False
    grace_s = vmi.spec.termination_grace_period_seconds
    return has_acpi and (DEFAULT_GRACE_S if grace_s is None else grace_s) > 0


def _with_facts(
    vmi: VirtualMachineInstance,
    status: VirtualMachineInstanceStatus,
    seen: GuestSeen,
    domain: DomainSeen,
) -> VirtualMachineInstanceStatus:
    if domain.state not in domains.ALIVE:
        return status
    return replace(
        status,
        interfaces=interfaces.of(vmi, domain, seen.pod_addresses),
        guest_os_info=domain.os,
        machine=Machine(type=domain.machine) if domain.machine else status.machine,
        fs_freeze_status="frozen" if domain.is_frozen else None,
        volume_status=_volumes(vmi, domain),
        migration_method=migratable.method(vmi, seen.shared_claims),
    )


def _volumes(vmi: VirtualMachineInstance, domain: DomainSeen) -> tuple[VolumeStatus, ...]:
    """What is known of each already, with the device that it has become."""
    targets = dict(domain.targets)
    known = {each.name: each for each in vmi.status.volume_status}
    return tuple(
        replace(known.get(name, VolumeStatus(name=name, target="")), target=targets.get(name, ""))
        for name in dict.fromkeys([*known, *(each.name for each in vmi.spec.volumes)])
    )


def _conditions(
    vmi: VirtualMachineInstance,
    status: VirtualMachineInstanceStatus,
    seen: GuestSeen,
    now: datetime,
) -> tuple[VirtualMachineInstanceCondition, ...]:
    domain = seen.domain
    is_failure = status.phase == phases.FAILED
    ending = _ending(domain) if domain is not None and is_failure else None
    all_told: dict[str, Told | None] = {SYNCHRONIZED: ending or _synchronized(seen)}
    if domain is not None and domain.state in domains.ALIVE:
        all_told[PAUSED] = _paused(domain)
        all_told[AGENT_CONNECTED] = Told(TRUE) if domain.has_agent else None
        all_told[REBOOTED] = _rebooted(domain)
        all_told[UNSUPPORTED] = agent.unsupported(vmi, domain.agent_commands)
        all_told["SoftwareEmulation"] = _emulation(domain)
        all_told["LiveMigratable"] = migratable.of(vmi, seen.shared_claims)
        all_told["StorageLiveMigratable"] = migratable.NOT_BUILT
    elif status.phase in phases.FINAL:
        # Gone with the guest. How far it came, and whether it could have moved, stays.
        all_told |= {PAUSED: None, AGENT_CONNECTED: None, UNSUPPORTED: None}
    conditions = status.conditions
    for name, each in all_told.items():
        conditions = with_told(conditions, VirtualMachineInstanceCondition, name, each, now)
    return conditions


def _synchronized(seen: GuestSeen) -> Told | None:
    if seen.failure:
        return Told(FALSE, seen.failure.reason, seen.failure.message)
    if seen.is_launcher_lost:
        text = "virt-launcher does not answer any more; its guest counts as gone"
        return Told(FALSE, "LauncherUnresponsive", text)
    return None


def _ending(domain: DomainSeen) -> Told | None:
    """Why a guest has failed, if its launcher knows."""
    if domain.state in domains.ALIVE or not domain.ending:
        return None
    reasons = {"Panicked": "GuestPanicked", "Destroyed": "GuestKilled"}
    return Told(FALSE, reasons.get(domain.reason, "GuestCrashed"), domain.ending)


def _paused(domain: DomainSeen) -> Told | None:
    if domain.state != domains.PAUSED:
        return None
    match domain.reason:
        case "User" | "StartingUp":
            return Told(TRUE, "PausedByUser", "VMI was paused by user")
        case "IOError":
            text = (
                "VMI was paused: a disk reported an error. If its storage is full, make room there, and "
                "the guest goes on by itself; else mend it, then unpause the guest"
            )
            return Told(TRUE, "PausedIOError", text)
        case "Migration" | "Postcopy":
            return Told(TRUE, "PausedByMigrationMonitor", "VMI was paused by the migration monitor")
        case _:
            return None


def _rebooted(domain: DomainSeen) -> Told | None:
    """Who waits for a reboot compares what this says with what it said before."""
    if not domain.resets:
        return None
    text = f"the guest has booted anew since it was started; resets of its machine: {domain.resets}"
    return Told(TRUE, "GuestRebooted", text)


def _emulation(domain: DomainSeen) -> Told | None:
    text = "the guest's processors are emulated, since the node has no usable /dev/kvm"
    return Told(TRUE, "NoHardwareAcceleration", text) if domain.is_emulated else None


def cause(told: VirtualMachineInstanceStatus) -> str:
    """Why a guest has failed, in words; empty if it has not, or nobody knows."""
    trouble = found(told.conditions, SYNCHRONIZED) if told.phase == phases.FAILED else None
    return (trouble.message or "") if trouble is not None else ""


def news(before: str | None, after: str | None, cause: str = "") -> Happening | None:
    """What users are told when virt-handler changes the phase; `cause` is why a guest has failed."""
    if before == after:
        return None
    match after:
        case phases.RUNNING:
            return happenings.STARTED
        case phases.SUCCEEDED:
            return happenings.SHUT_DOWN
        case phases.FAILED:
            return happenings.crashed(cause)
        case _:
            return None
