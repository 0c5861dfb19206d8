"""Identity that the guest reads from SMBIOS, and files it reads from the firmware."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element, Text


class Entry(Element, frozen=True, kw_only=True):
    name: Attr[str]
    value: Text[str]


class Entries(Element, frozen=True, kw_only=True):
    entries: tuple[Entry, ...] = field(default=(), name="entry")


class SysInfo(Element, frozen=True, kw_only=True):
    type: Attr[str]
    system: Entries | None = None
    chassis: Entries | None = None
