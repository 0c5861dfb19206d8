"""The device that acts when the guest hangs."""

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class Watchdog(Element, frozen=True, kw_only=True):
    model: Attr[str]
    action: Attr[str]
    alias: Alias | None = None
    address: Address | None = None
