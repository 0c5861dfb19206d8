"""Disks as the guest sees them."""

from msgspec import field

from kubevirt.api.features import FeatureState
from kubevirt.api.struct import Int32, Struct


class CustomBlockSize(Struct, frozen=True, kw_only=True):
    """Block sizes in bytes that the guest sees."""

    discard_granularity: int | None = None
    """Smallest piece that can be discarded; a multiple of the logical size."""
    logical: int | None = None
    """Unit of addressing, a power of 2 such as 512 or 4096."""
    physical: int | None = None
    """Unit of efficient writing; at least the logical size."""


class BlockSize(Struct, frozen=True, kw_only=True):
    """Where the block sizes of a disk come from; exactly one source."""

    custom: CustomBlockSize | None = None
    """Given sizes."""
    match_volume: FeatureState | None = None
    """Sizes of the volume behind the disk."""


class DiskTarget(Struct, frozen=True, kw_only=True):
    """Ordinary hard disk."""

    bus: str | None = None
    """virtio, scsi, sata or usb; on amd64 sata if not set."""
    pci_address: str | None = None
    """Fixed place on the guest's PCI bus, like 0000:08:00.0; virtio bus only."""
    readonly: bool | None = None
    """Refuses writes, which sata disks do not support; false by default."""


class LunTarget(Struct, frozen=True, kw_only=True):
    """Block device handed through with its SCSI commands."""

    bus: str | None = None
    """scsi, sata or virtio; scsi is the one that carries SCSI commands."""
    readonly: bool | None = None
    """Refuses writes; false by default."""
    reservation: bool | None = None
    """Supports SCSI persistent reservations, as clustered guests use."""


class CDRomTarget(Struct, frozen=True, kw_only=True):
    """CD-ROM drive."""

    bus: str | None = None
    """sata or scsi; on amd64 sata if not set."""
    readonly: bool | None = None
    """Refuses writes; true by default."""
    tray: str | None = None
    """closed (default) or open."""


class Disk(Struct, frozen=True, kw_only=True):
    """A device of the guest that shows a volume; a hard disk if no kind is named."""

    name: str
    """Volume of the same name that the device shows."""
    block_size: BlockSize | None = None
    """Block sizes shown to the guest."""
    boot_order: int | None = None
    """Place in the boot sequence, from 1; unique over disks and interfaces."""
    cache: str | None = None
    """none, writethrough or writeback; none where storage allows O_DIRECT, otherwise writethrough.
    """
    cdrom: CDRomTarget | None = None
    """Shows the volume as a CD-ROM."""
    changed_block_tracking: bool | None = None
    """Records which blocks change, for incremental backup; false by default."""
    dedicated_io_thread: bool | None = field(default=None, name="dedicatedIOThread")
    """Gives the disk an I/O thread to itself; meant for virtio, not for sata or usb."""
    disk: DiskTarget | None = None
    """Shows the volume as a hard disk."""
    error_policy: str | None = None
    """On I/O errors stop (default) pauses the guest; ignore, report, enospace."""
    io: str | None = None
    """QEMU's way of I/O: native or threads."""
    lun: LunTarget | None = None
    """Shows the volume as a SCSI device with passthrough."""
    serial: str | None = None
    """Serial number shown to the guest; at most 256 of A-Z a-z 0-9 _ . + -"""
    shareable: bool | None = None
    """Lets several guests write at the same time; they must coordinate themselves."""
    tag: str | None = None
    """Label for this disk in the config drive's metadata."""


class DiskIOThreads(Struct, frozen=True, kw_only=True):
    """Settings of the I/O threads."""

    supplemental_pool_thread_count: Int32 | None = None
    """Number of threads in the pool; only with ioThreadsPolicy supplementalPool."""
