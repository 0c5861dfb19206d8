"""The watchdog."""

from typing import Final

from kubevirt.virt.convert.guest import Guest, alias
from kubevirt.virt.domain.watchdog import Watchdog
from kubevirt.virt.errors import SpecError, UnsupportedError, shown

ACTIONS: Final = ("reset", "poweroff", "shutdown")


def watchdogs(guest: Guest) -> tuple[Watchdog, ...]:
    spec = guest.devices.watchdog
    if spec is None:
        return ()
    model = guest.architecture.watchdog_model
    if model is None:
        name = guest.architecture.name
        raise UnsupportedError(
            f"watchdog is not supported on architecture {name}; remove devices.watchdog"
        )
    device = spec.diag288 if model == "diag288" else spec.i6300esb
    if device is None:
        raise SpecError(
            f"watchdog {shown(spec.name)} can't be mapped, no watchdog type specified; set {model}"
        )
    action = device.action or "reset"
    if action not in ACTIONS:
        raise SpecError(
            f"watchdog {shown(spec.name)} has the action {shown(action)}; "
            f"use one of {', '.join(ACTIONS)}"
        )
    return (Watchdog(model=model, action=action, alias=alias("watchdog", spec.name)),)
