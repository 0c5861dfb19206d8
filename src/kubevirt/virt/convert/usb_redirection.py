"""Slots for USB devices of a client."""

from typing import Final

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.redirdev import RedirectedDevice, RedirectSource

SLOTS: Final = 4


def redirected_devices(guest: Guest) -> tuple[RedirectedDevice, ...]:
    if guest.devices.client_passthrough is None:
        return ()
    sockets = (guest.facts.layout.usb_socket(guest.uid, slot) for slot in range(SLOTS))
    return tuple(
        RedirectedDevice(bus="usb", type="unix", source=RedirectSource(mode="bind", path=socket))
        for socket in sockets
    )
