"""The identity that a guest reads from SMBIOS."""

import uuid

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.sysinfo import Entries, Entry, SysInfo
from kubevirt.virt.errors import SpecError, shown


def sysinfos(guest: Guest) -> tuple[SysInfo, ...]:
    if not guest.architecture.smbios:
        return ()
    return (SysInfo(type="smbios", system=_system(guest), chassis=_chassis(guest)),)


def machine_uuid(guest: Guest) -> str | None:
    """Stands in two places of a domain, and must be the same in both."""
    text = guest.domain.firmware.uuid if guest.domain.firmware else None
    if not text:
        return None
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise SpecError(
            f"firmware.uuid {shown(text)} is no UUID; one looks like "
            f"5d307ca9-b3ef-428c-8861-06e72d69f223"
        ) from None


def _system(guest: Guest) -> Entries | None:
    firmware, vendor = guest.domain.firmware, guest.facts.cluster.smbios
    return _entries(
        uuid=machine_uuid(guest),
        serial=firmware.serial if firmware else None,
        manufacturer=vendor.manufacturer,
        family=vendor.family,
        product=vendor.product,
        sku=vendor.sku,
        version=vendor.version,
    )


def _chassis(guest: Guest) -> Entries | None:
    chassis = guest.domain.chassis
    if chassis is None:
        return None
    return _entries(
        manufacturer=chassis.manufacturer,
        version=chassis.version,
        serial=chassis.serial,
        asset=chassis.asset,
        sku=chassis.sku,
    )


def _entries(**values: str | None) -> Entries | None:
    entries = tuple(Entry(name=name, value=value) for name, value in values.items() if value)
    return Entries(entries=entries) if entries else None
