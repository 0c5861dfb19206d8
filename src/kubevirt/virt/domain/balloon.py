"""The memory balloon: source of the guest's memory statistics."""

from msgspec import field

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.xml.element import Attr, Element, OnOff


class BalloonStats(Element, frozen=True, kw_only=True):
    period: Attr[int]
    """Seconds between two reports of the guest."""


class BalloonDriver(Element, frozen=True, kw_only=True):
    iommu: OnOff = None


class Balloon(Element, frozen=True, kw_only=True):
    """`<memballoon>`; model none keeps libvirt from adding one of its own."""

    model: Attr[str]
    free_page_reporting: OnOff = field(default=None, name="freePageReporting")
    stats: BalloonStats | None = None
    driver: BalloonDriver | None = None
    address: Address | None = None
