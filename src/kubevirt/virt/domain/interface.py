"""Network cards."""

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.boot import BootOrder
from kubevirt.virt.domain.xml.element import Attr, Element, OnOff, YesNo


class Mac(Element, frozen=True, kw_only=True):
    address: Attr[str]


class InterfaceModel(Element, frozen=True, kw_only=True):
    type: Attr[str]


class InterfaceDriver(Element, frozen=True, kw_only=True):
    name: Attr[str | None] = None
    """vhost in the kernel, or qemu."""
    queues: Attr[int | None] = None
    iommu: OnOff = None


class InterfaceTarget(Element, frozen=True, kw_only=True):
    dev: Attr[str]
    managed: YesNo = None
    """no: the tap exists already and stays when the guest is gone."""


class Mtu(Element, frozen=True, kw_only=True):
    size: Attr[int]


class LinkState(Element, frozen=True, kw_only=True):
    state: Attr[str]


class Rom(Element, frozen=True, kw_only=True):
    enabled: YesNo = None


class AcpiIndex(Element, frozen=True, kw_only=True):
    index: Attr[int]


class Interface(Element, frozen=True, kw_only=True):
    type: Attr[str]
    mac: Mac | None = None
    target: InterfaceTarget | None = None
    model: InterfaceModel | None = None
    driver: InterfaceDriver | None = None
    mtu: Mtu | None = None
    link: LinkState | None = None
    boot: BootOrder | None = None
    rom: Rom | None = None
    acpi: AcpiIndex | None = None
    alias: Alias | None = None
    address: Address | None = None
