"""Threads of QEMU that do disk I/O, and the disks they serve."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element


class Thread(Element, frozen=True, kw_only=True):
    id: Attr[int]


class ThreadMap(Element, frozen=True, kw_only=True):
    """Several threads for one device; libvirt 10.0 and QEMU 9.0 know it."""

    threads: tuple[Thread, ...] = field(default=(), name="iothread")
