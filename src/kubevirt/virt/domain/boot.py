"""`<os>`: machine, firmware, a kernel handed in; and `<boot>`, a device's place in the sequence."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element, Text, YesNo


class BootOrder(Element, frozen=True, kw_only=True):
    """A device's place in the boot sequence, from 1."""

    order: Attr[int]


class MachineType(Element, frozen=True, kw_only=True):
    arch: Attr[str | None] = None
    machine: Attr[str | None] = None
    kind: Text[str] = "hvm"


class Loader(Element, frozen=True, kw_only=True):
    """Firmware code, mapped read-only into the guest."""

    readonly: YesNo = None
    secure: YesNo = None
    type: Attr[str | None] = None
    """pflash, or rom for firmware that keeps no variables."""
    stateless: YesNo = None
    path: Text[str]


class Nvram(Element, frozen=True, kw_only=True):
    """The firmware's variables, copied from the template when the file is missing."""

    template: Attr[str | None] = None
    path: Text[str]


class BootMenu(Element, frozen=True, kw_only=True):
    enable: YesNo = None
    timeout: Attr[int | None] = None
    """Milliseconds the firmware waits for a key."""


class Smbios(Element, frozen=True, kw_only=True):
    """Where SMBIOS data comes from: sysinfo takes it from the domain's own element."""

    mode: Attr[str]


class Bios(Element, frozen=True, kw_only=True):
    use_serial: YesNo = field(default=None, name="useserial")


class AcpiTable(Element, frozen=True, kw_only=True):
    type: Attr[str]
    path: Text[str]


class AcpiTables(Element, frozen=True, kw_only=True):
    tables: tuple[AcpiTable, ...] = field(default=(), name="table")


class Boot(Element, frozen=True, kw_only=True):
    """`<os>`."""

    type: MachineType
    loader: Loader | None = None
    nvram: Nvram | None = None
    kernel: str | None = None
    initrd: str | None = None
    cmdline: str | None = None
    acpi: AcpiTables | None = None
    bootmenu: BootMenu | None = None
    smbios: Smbios | None = None
    bios: Bios | None = None
