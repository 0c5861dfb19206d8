"""Keyboards and pointers."""

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class Input(Element, frozen=True, kw_only=True):
    type: Attr[str]
    bus: Attr[str | None] = None
    model: Attr[str | None] = None
    alias: Alias | None = None
    address: Address | None = None
