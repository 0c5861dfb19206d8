"""Pointers, and the keyboard where the platform has none."""

from kubevirt.virt.convert.guest import Guest, alias
from kubevirt.virt.domain.input import Input
from kubevirt.virt.errors import SpecError, shown


def inputs(guest: Guest) -> tuple[Input, ...]:
    found = []
    for spec in guest.devices.inputs:
        bus = spec.bus or "usb"
        if bus not in {"usb", "virtio"}:
            raise SpecError(
                f"input {shown(spec.name)}: Input device can have only virtio or usb bus."
            )
        if spec.type != "tablet":
            raise SpecError(f"input {shown(spec.name)}: Input device can have only tablet type.")
        found.append(
            Input(
                type=spec.type,
                bus=bus,
                model="virtio" if bus == "virtio" else None,
                alias=alias("input", spec.name),
            )
        )
    return (*found, *_for_the_screen(guest))


def _for_the_screen(guest: Guest) -> tuple[Input, ...]:
    bus = guest.architecture.keyboard_bus
    if bus is None or not guest.has_graphics:
        return ()
    keyboard = Input(type="keyboard", bus=bus)
    if bus == "usb" and not guest.devices.inputs:
        return (Input(type="tablet", bus=bus), keyboard)
    return (keyboard,)
