"""Facts: all that a conversion needs from outside, as data. Who gathers them is not its business.

Nothing here is a decision: a fact says what there is, a noun decides what becomes of it. Every list
of what a host offers may be empty, which means unknown, and then nothing is refused for its sake.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from kubevirt.api.struct import NO_ENTRIES
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.kernel_boot import KernelFiles

if TYPE_CHECKING:  # a launcher reads facts, and has no memory to spare for a cluster's settings
    from kubevirt.api.configuration import KubeVirtConfiguration


class HostCpu(msgspec.Struct, frozen=True, kw_only=True):
    """One logical CPU of the node."""

    id: int
    siblings: tuple[int, ...] = ()
    """Threads of the same core, itself included; empty if it has no others."""


class NumaNode(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    cpus: tuple[HostCpu, ...] = ()


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The node and its hypervisor."""

    kvm: bool = False
    """Whether guests run on the hardware; otherwise QEMU emulates it."""
    machine_types: tuple[str, ...] = ()
    """What QEMU offers, aliases included."""
    cpu_models: tuple[str, ...] = ()
    """Named models that the hypervisor can provide."""
    emulated_passthrough: str = "maximum"
    """What host-passthrough becomes without hardware: the mode that gives the guest most."""
    hugepage_sizes: tuple[int, ...] = ()
    """Sizes in bytes of which the pod has pages. Here empty means none."""
    iothread_mapping: bool = False
    """Whether one disk can have several I/O threads: libvirt 10.0 and QEMU 9.0."""
    cpu_set: tuple[int, ...] = ()
    """CPUs that the pod has to itself."""
    numa_nodes: tuple[NumaNode, ...] = ()


class SmbiosFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Vendor data of the cluster."""

    manufacturer: str = "KubeVirt"
    family: str = "KubeVirt"
    product: str = "None"
    sku: str = ""
    version: str = ""


class ClusterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the installation that shape a domain."""

    balloon_stats_period: int = 10
    """Seconds between two memory reports; 0 switches them off."""
    free_page_reporting: bool = True
    serial_console_log: bool = True
    smbios: SmbiosFacts = SmbiosFacts()


class BlockSizes(msgspec.Struct, frozen=True, kw_only=True):
    """What the storage below a volume works with, in bytes."""

    logical: int
    physical: int
    discard_granularity: int | None = None


class BackingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The image below an overlay."""

    path: str
    format: str
    is_block: bool = False
    direct_io: bool = True


class VolumeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at a volume's place."""

    path: str | None = None
    """If not where the layout puts it."""
    format: str | None = None
    is_block: bool = False
    direct_io: bool = True
    """Whether the file system takes O_DIRECT."""
    preallocated: bool = False
    discard: bool = True
    """Whether space that the guest frees may be given back."""
    block_sizes: BlockSizes | None = None
    backing: BackingFacts | None = None
    hotplugged: bool = False


class InterfaceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How a network card is connected; comes out of the network plan."""

    tap: str
    mac: str | None = None
    mtu: int | None = None
    vhost: bool = False
    """Whether /dev/vhost-net is there for it."""


class HostDeviceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The device that the node has set aside for an entry of the spec."""

    kind: str
    """pci, mdev or usb."""
    address: str
    """0000:65:00.1, a UUID, or bus:device of a USB device."""


class EfiImages(msgspec.Struct, frozen=True, kw_only=True):
    """Firmware code and the template of its variables."""

    code: str
    vars: str | None = None
    """None for firmware that keeps none."""


class FirmwareFacts(msgspec.Struct, frozen=True, kw_only=True):
    """EFI images on the node; None where there is no such file."""

    plain: EfiImages | None = None
    secure: EfiImages | None = None
    sev: EfiImages | None = None
    snp: EfiImages | None = None
    tdx: EfiImages | None = None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything from outside."""

    host: HostFacts = HostFacts()
    cluster: ClusterFacts = ClusterFacts()
    layout: Layout = Layout()
    firmware: FirmwareFacts = FirmwareFacts()
    kernel: KernelFiles | None = None
    """The files of kernelBoot, if not where the layout puts them."""
    volumes: Mapping[str, VolumeFacts] = NO_ENTRIES
    """By volume name; one that is missing lies where the layout says, as the status tells."""
    interfaces: Mapping[str, InterfaceFacts] = NO_ENTRIES
    """By interface name."""
    host_devices: Mapping[str, HostDeviceFacts] = NO_ENTRIES
    """By name of the GPU, host device or SR-IOV interface."""


def cluster_facts(configuration: "KubeVirtConfiguration") -> ClusterFacts:
    """The part of the cluster's configuration that a domain shows."""
    options = configuration.virtual_machine_options
    period = configuration.mem_balloon_stats_period
    smbios = configuration.smbios
    default = SmbiosFacts()
    return ClusterFacts(
        balloon_stats_period=10 if period is None else period,
        free_page_reporting=not (options and options.disable_free_page_reporting is not None),
        serial_console_log=not (options and options.disable_serial_console_log is not None),
        smbios=SmbiosFacts(
            manufacturer=smbios.manufacturer or default.manufacturer,
            family=smbios.family or default.family,
            product=smbios.product or default.product,
            sku=smbios.sku or "",
            version=smbios.version or "",
        )
        if smbios
        else default,
    )
