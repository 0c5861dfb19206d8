"""Devices of the host handed to the guest: PCI, mediated, USB."""

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.boot import BootOrder
from kubevirt.virt.domain.xml.element import Attr, Element, OnOff, YesNo


class HostdevSource(Element, frozen=True, kw_only=True):
    address: Address


class Hostdev(Element, frozen=True, kw_only=True):
    mode: Attr[str] = "subsystem"
    type: Attr[str]
    managed: YesNo = None
    model: Attr[str | None] = None
    display: OnOff = None
    ramfb: OnOff = None
    source: HostdevSource
    boot: BootOrder | None = None
    alias: Alias | None = None
    address: Address | None = None
