"""Disks as the guest sees them."""

from msgspec import field

from kubevirt.api.features import FeatureState
from kubevirt.api.struct import Int32, Int64, Struct


class CustomBlockSize(Struct, frozen=True, kw_only=True):
    """…"""

    discard_granularity: Int32 | None = None
    logical: Int32 | None = None
    physical: Int32 | None = None


class BlockSize(Struct, frozen=True, kw_only=True):
    """…"""

    custom: CustomBlockSize | None = None
    match_volume: FeatureState | None = None


class DiskTarget(Struct, frozen=True, kw_only=True):
    """…"""

    bus: str | None = None
    pci_address: str | None = None
    readonly: bool | None = None


class LunTarget(Struct, frozen=True, kw_only=True):
    """…"""

    bus: str | None = None
    readonly: bool | None = None
    reservation: bool | None = None


class CDRomTarget(Struct, frozen=True, kw_only=True):
    """…"""

    bus: str | None = None
    readonly: bool | None = None
    tray: str | None = None


class Disk(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    block_size: BlockSize | None = None
    boot_order: Int32 | None = None
    cache: str | None = None
    cdrom: CDRomTarget | None = None
    changed_block_tracking: bool | None = None
    dedicated_io_thread: bool | None = field(default=None, name="dedicatedIOThread")
    disk: DiskTarget | None = None
    error_policy: str | None = None
    io: str | None = None
    lun: LunTarget | None = None
    serial: str | None = None
    shareable: bool | None = None
    tag: str | None = None


class DiskIOThreads(Struct, frozen=True, kw_only=True):
    """…"""

    supplemental_pool_thread_count: Int64 | None = None
