"""The device by which a crashing guest tells the host."""

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class Panic(Element, frozen=True, kw_only=True):
    model: Attr[str | None] = None
    alias: Alias | None = None
