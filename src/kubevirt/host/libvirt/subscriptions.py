"""From libvirt's callbacks to our events. Runs in libvirt's event thread, so it only translates."""

from collections.abc import Callable
from typing import Any, Final

import libvirt

from kubevirt.host.libvirt.events import (
    AgentChanged,
    BalloonChanged,
    Change,
    DeviceAdded,
    DeviceKept,
    DeviceRemoved,
    DiskFailed,
    DomainEvent,
    LifeChanged,
    Rebooted,
    Slept,
    WatchdogFired,
    WokeUp,
)
from kubevirt.host.libvirt.states import named

_TEXT_LIMIT: Final = 4096

_CHANGES: Final = tuple(Change)
_DETAILS: Final[dict[Change, tuple[str, ...]]] = {
    Change.DEFINED: ("Added", "Updated", "Renamed", "FromSnapshot"),
    Change.UNDEFINED: ("Removed", "Renamed"),
    Change.STARTED: ("Booted", "Migrated", "Restored", "FromSnapshot", "Wakeup", "Recreated"),
    Change.SUSPENDED: (
        "Paused",
        "Migrated",
        "IOError",
        "Watchdog",
        "Restored",
        "FromSnapshot",
        "APIError",
        "Postcopy",
        "PostcopyFailed",
    ),
    Change.RESUMED: ("Unpaused", "Migrated", "FromSnapshot", "Postcopy", "PostcopyFailed"),
    Change.STOPPED: (
        "Shutdown",
        "Destroyed",
        "Crashed",
        "Migrated",
        "Saved",
        "Failed",
        "FromSnapshot",
        "Recreated",
    ),
    Change.SHUT_DOWN: ("Finished", "Guest", "Host"),
    Change.PM_SUSPENDED: ("Memory", "Disk"),
    Change.CRASHED: ("Panicked", "Crashloaded"),
}
_WATCHDOG_ACTIONS: Final = (
    "None",
    "Pause",
    "Reset",
    "Poweroff",
    "Shutdown",
    "Debug",
    "InjectNMI",
)
_DISK_ACTIONS: Final = ("None", "Pause", "Report")
_AGENT_CONNECTED: Final = 1
_AGENT_REASONS: Final = ("Unknown", "DomainStarted", "Channel")

Translation = Callable[..., DomainEvent | None]


def _life(domain: str, number: int, detail: int) -> DomainEvent | None:
    if not 0 <= number < len(_CHANGES):
        return None  # from a libvirt newer than this table
    change = _CHANGES[number]
    return LifeChanged(domain=domain, change=change, detail=named(_DETAILS[change], detail))


def _disk_failed(domain: str, path: str, alias: str, action: int, reason: str) -> DomainEvent:
    return DiskFailed(
        domain=domain,
        path=_bounded(path),
        alias=_bounded(alias),
        action=named(_DISK_ACTIONS, action),
        reason=_bounded(reason),
    )


def _agent(domain: str, state: int, reason: int) -> DomainEvent:
    return AgentChanged(
        domain=domain,
        connected=state == _AGENT_CONNECTED,
        reason=named(_AGENT_REASONS, reason),
    )


def _bounded(text: str | None) -> str:
    return (text or "")[:_TEXT_LIMIT]


TRANSLATIONS: Final[dict[int, Translation]] = {
    libvirt.VIR_DOMAIN_EVENT_ID_LIFECYCLE: _life,
    libvirt.VIR_DOMAIN_EVENT_ID_REBOOT: lambda domain: Rebooted(domain=domain),
    libvirt.VIR_DOMAIN_EVENT_ID_WATCHDOG: lambda domain, action: WatchdogFired(
        domain=domain, action=named(_WATCHDOG_ACTIONS, action)
    ),
    libvirt.VIR_DOMAIN_EVENT_ID_IO_ERROR_REASON: _disk_failed,
    libvirt.VIR_DOMAIN_EVENT_ID_AGENT_LIFECYCLE: _agent,
    libvirt.VIR_DOMAIN_EVENT_ID_DEVICE_ADDED: lambda domain, alias: DeviceAdded(
        domain=domain, alias=_bounded(alias)
    ),
    libvirt.VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED: lambda domain, alias: DeviceRemoved(
        domain=domain, alias=_bounded(alias)
    ),
    libvirt.VIR_DOMAIN_EVENT_ID_DEVICE_REMOVAL_FAILED: lambda domain, alias: DeviceKept(
        domain=domain, alias=_bounded(alias)
    ),
    libvirt.VIR_DOMAIN_EVENT_ID_BALLOON_CHANGE: lambda domain, kib: BalloonChanged(
        domain=domain, memory_bytes=kib * 1024
    ),
    libvirt.VIR_DOMAIN_EVENT_ID_PMSUSPEND: lambda domain, _: Slept(domain=domain),
    libvirt.VIR_DOMAIN_EVENT_ID_PMSUSPEND_DISK: lambda domain, _: Slept(
        domain=domain, to_disk=True
    ),
    libvirt.VIR_DOMAIN_EVENT_ID_PMWAKEUP: lambda domain, _: WokeUp(domain=domain),
}


def subscribe(
    connection: libvirt.virConnect, tell: Callable[[DomainEvent], None]
) -> tuple[int, ...]:
    """Every event of every guest of the connection goes to `tell`, in libvirt's event thread.

    The numbers are for taking the subscriptions back.
    """

    def heard(_: Any, domain: libvirt.virDomain, *rest: Any) -> None:
        *values, translate = rest
        event = translate(domain.name(), *values)
        if event is not None:
            tell(event)

    return tuple(
        connection.domainEventRegisterAny(None, number, heard, translate)
        for number, translate in TRANSLATIONS.items()
    )
