"""Panic devices."""

from typing import Final

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.panic import Panic
from kubevirt.virt.errors import SpecError, shown

MODELS: Final = ("hyperv", "isa", "pvpanic")


def panics(guest: Guest) -> tuple[Panic, ...]:
    found = []
    for spec in guest.devices.panic_devices:
        if spec.model is not None and spec.model not in MODELS:
            raise SpecError(
                f"panic device model {shown(spec.model)} is not known; "
                f"use one of {', '.join(MODELS)}"
            )
        found.append(Panic(model=spec.model or guest.architecture.panic_model))
    return tuple(found)
