"""Random numbers from the host."""

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element, OnOff, Text


class RngBackend(Element, frozen=True, kw_only=True):
    model: Attr[str]
    source: Text[str]


class RngDriver(Element, frozen=True, kw_only=True):
    iommu: OnOff = None


class Rng(Element, frozen=True, kw_only=True):
    model: Attr[str]
    backend: RngBackend
    driver: RngDriver | None = None
    alias: Alias | None = None
    address: Address | None = None
