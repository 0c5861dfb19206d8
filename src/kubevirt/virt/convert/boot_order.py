"""The boot sequence: positive, and one place for each device."""

from kubevirt.api.disks import Disk
from kubevirt.api.interfaces import Interface
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.boot import BootOrder
from kubevirt.virt.errors import SpecError, shown


class BootOrderError(SpecError):
    def __init__(self, message: str) -> None:
        super().__init__(message, reason="InvalidBootOrder")


def boot_order(order: int | None) -> BootOrder | None:
    return BootOrder(order=order) if order is not None else None


def check_boot_order(guest: Guest) -> None:
    """Over disks and interfaces together, as the firmware sees them."""
    devices: tuple[Disk | Interface, ...] = (*guest.devices.disks, *guest.devices.interfaces)
    owners: dict[int, str] = {}
    for device in devices:
        order = device.boot_order
        if order is None:
            continue
        if order < 1:
            raise BootOrderError(
                f"{shown(device.name)} must have a boot order > 0, if supplied, but has {order}"
            )
        if order in owners:
            raise BootOrderError(
                f"Boot order for {shown(device.name)} already set for a different device. "
                f"{shown(owners[order])} has bootOrder {order} too; give one of them another."
            )
        owners[order] = device.name
