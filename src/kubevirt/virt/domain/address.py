"""Where a device sits on a bus, in the guest or on the host."""

from kubevirt.virt.domain.xml.element import Attr, Element


class Address(Element, frozen=True, kw_only=True):
    """One address; which attributes it has follows from its type. Numbers keep libvirt's hex form."""

    type: Attr[str | None] = None
    """pci, drive, usb, virtio-serial, ccw, isa; none inside a host device's source."""
    domain: Attr[str | None] = None
    controller: Attr[str | None] = None
    bus: Attr[str | None] = None
    slot: Attr[str | None] = None
    function: Attr[str | None] = None
    target: Attr[str | None] = None
    unit: Attr[str | None] = None
    device: Attr[str | None] = None
    port: Attr[str | None] = None
    uuid: Attr[str | None] = None
    """Of a mediated device."""
