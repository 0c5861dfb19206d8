"""A sound card."""

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class Sound(Element, frozen=True, kw_only=True):
    model: Attr[str]
    alias: Alias | None = None
    address: Address | None = None
