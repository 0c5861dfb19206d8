"""Controllers: what disks, ports and USB devices are plugged into."""

from msgspec import field

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.iothreads import ThreadMap
from kubevirt.virt.domain.xml.element import Attr, Element, OnOff, Text


class ControllerDriver(Element, frozen=True, kw_only=True):
    queues: Attr[int | None] = None
    iothread: Attr[int | None] = None
    iommu: OnOff = None
    iothreads: ThreadMap | None = None


class PciHole64(Element, frozen=True, kw_only=True):
    """The 64-bit window for devices; 0 takes it away, for guests that stumble over it."""

    unit: Attr[str] = "KiB"
    size: Text[int]


class Controller(Element, frozen=True, kw_only=True):
    type: Attr[str]
    index: Attr[int | None] = None
    model: Attr[str | None] = None
    driver: ControllerDriver | None = None
    pcihole64: PciHole64 | None = field(default=None, name="pcihole64")
    alias: Alias | None = None
    address: Address | None = None
