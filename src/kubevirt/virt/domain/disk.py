"""Disks, CD-ROM drives and LUNs."""

from typing import Optional

from msgspec import field

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.boot import BootOrder
from kubevirt.virt.domain.iothreads import ThreadMap
from kubevirt.virt.domain.xml.element import Attr, Element, Flag, OnOff, YesNo


class DiskDriver(Element, frozen=True, kw_only=True):
    name: Attr[str | None] = None
    type: Attr[str | None] = None
    """Format of the source, always given: probing lets a guest choose what the host reads."""
    cache: Attr[str | None] = None
    error_policy: Attr[str | None] = None
    io: Attr[str | None] = None
    discard: Attr[str | None] = None
    iothread: Attr[int | None] = None
    queues: Attr[int | None] = None
    iommu: OnOff = None
    iothreads: ThreadMap | None = None


class ReservationSource(Element, frozen=True, kw_only=True):
    type: Attr[str]
    path: Attr[str]
    mode: Attr[str]


class Reservations(Element, frozen=True, kw_only=True):
    """The helper that may issue SCSI persistent reservations."""

    managed: YesNo = None
    source: ReservationSource | None = None


class DiskSource(Element, frozen=True, kw_only=True):
    file: Attr[str | None] = None
    dev: Attr[str | None] = None
    reservations: Reservations | None = None


class DiskFormat(Element, frozen=True, kw_only=True):
    type: Attr[str]


class BackingStore(Element, frozen=True, kw_only=True):
    """What lies below an overlay; an empty one ends the chain."""

    type: Attr[str | None] = None
    format: DiskFormat | None = None
    source: DiskSource | None = None
    backing_store: Optional["BackingStore"] = field(default=None, name="backingStore")


class DiskTarget(Element, frozen=True, kw_only=True):
    dev: Attr[str]
    bus: Attr[str | None] = None
    tray: Attr[str | None] = None


class BlockIo(Element, frozen=True, kw_only=True):
    logical_block_size: Attr[int | None] = None
    physical_block_size: Attr[int | None] = None
    discard_granularity: Attr[int | None] = None


class Disk(Element, frozen=True, kw_only=True):
    type: Attr[str]
    """file or block: what the source is on the host."""
    device: Attr[str]
    """disk, cdrom or lun: what the guest sees."""
    model: Attr[str | None] = None
    driver: DiskDriver | None = None
    source: DiskSource | None = None
    backing_store: BackingStore | None = field(default=None, name="backingStore")
    target: DiskTarget
    blockio: BlockIo | None = None
    readonly: Flag = False
    shareable: Flag = False
    serial: str | None = None
    boot: BootOrder | None = None
    alias: Alias | None = None
    address: Address | None = None
