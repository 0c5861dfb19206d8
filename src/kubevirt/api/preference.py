"""Preferences: defaults that fit an operating system."""

from collections.abc import Mapping

from msgspec import field

from kubevirt.api.clock import ClockOffset, Timer
from kubevirt.api.cpu import CPUFeature
from kubevirt.api.devices import Rng, TPMDevice, VGPUOptions
from kubevirt.api.disks import BlockSize
from kubevirt.api.features import FeatureAPIC, FeatureHyperv, FeatureKVM, FeatureState
from kubevirt.api.firmware import EFI
from kubevirt.api.interfaces import InterfaceMasquerade
from kubevirt.api.launch_security import LaunchSecurity
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import NO_ENTRIES, Int32, Int64, Quantity, Struct


class SpreadOptions(Struct, frozen=True, kw_only=True):
    """How topology spread lays out virtual CPUs."""

    across: str | None = None
    """Levels to fill: SocketsCores (default), CoresThreads or SocketsCoresThreads."""
    ratio: Int32 | None = None
    """Cores per socket, default 2; with CoresThreads the threads per core, always 2."""


class CPUPreferences(Struct, frozen=True, kw_only=True):
    """Defaults for processors."""

    preferred_cpu_features: tuple[CPUFeature, ...] = field(default=(), name="preferredCPUFeatures")
    """CPU features to add to those of the guest."""
    preferred_cpu_topology: str | None = field(default=None, name="preferredCPUTopology")
    """What the instance type's CPUs become: sockets (default), cores, threads, spread or any."""
    spread_options: SpreadOptions | None = None
    """Details of topology spread."""


class ClockPreferences(Struct, frozen=True, kw_only=True):
    """Defaults for the clock."""

    preferred_clock_offset: ClockOffset | None = None
    """Whether the clock starts as UTC or as local time of a zone."""
    preferred_timer: Timer | None = None
    """Timers of the guest."""


class DevicePreferences(Struct, frozen=True, kw_only=True):
    """Defaults for devices; each applies where the machine leaves the value open."""

    preferred_autoattach_graphics_device: bool | None = None
    """Whether there is a display."""
    preferred_autoattach_input_device: bool | None = None
    """Whether there is a tablet for the display."""
    preferred_autoattach_mem_balloon: bool | None = None
    """Whether there is a memory balloon."""
    preferred_autoattach_pod_interface: bool | None = None
    """Whether a machine without interfaces gets the pod network."""
    preferred_autoattach_serial_console: bool | None = None
    """Whether there is a serial console."""
    preferred_block_multi_queue: bool | None = None
    """Whether virtio disks have a queue for each vCPU."""
    preferred_cdrom_bus: str | None = None
    """Bus of CD-ROMs: sata, scsi or usb."""
    preferred_disable_hotplug: bool | None = None
    """Whether volumes cannot be attached to the running guest."""
    preferred_disk_block_size: BlockSize | None = None
    """Block size that disks report."""
    preferred_disk_bus: str | None = None
    """Bus of disks: virtio, scsi, sata or usb."""
    preferred_disk_cache: str | None = None
    """Cache mode of disks: none, writethrough or writeback."""
    preferred_disk_dedicated_io_thread: bool | None = None
    """Whether each virtio disk has a thread of its own."""
    preferred_disk_io: str | None = field(default=None, name="preferredDiskIO")
    """How QEMU reads and writes disks: native or threads."""
    preferred_input_bus: str | None = None
    """Bus of input devices: virtio or usb."""
    preferred_input_type: str | None = None
    """Type of input devices; only tablet."""
    preferred_interface_masquerade: InterfaceMasquerade | None = None
    """Binds interfaces by masquerade; only on the pod network."""
    preferred_interface_model: str | None = None
    """Model of network cards, such as virtio or e1000e."""
    preferred_lun_bus: str | None = None
    """Bus of LUNs: scsi, sata or virtio."""
    preferred_network_interface_multi_queue: bool | None = None
    """Whether virtio network cards have a queue for each vCPU."""
    preferred_panic_device_model: str | None = None
    """Model of panic devices: hyperv, isa or pvpanic."""
    preferred_rng: Rng | None = None
    """Adds a random number generator."""
    preferred_sound_model: str | None = None
    """Model of sound cards: ich9 or ac97."""
    preferred_tpm: TPMDevice | None = field(default=None, name="preferredTPM")
    """Adds a TPM."""
    preferred_use_virtio_transitional: bool | None = None
    """Whether virtio devices also speak the old protocol, for old guests."""
    preferred_video_type: str | None = None
    """Video card, such as vga, bochs or virtio."""
    preferred_virtual_gpu_options: VGPUOptions | None = field(
        default=None, name="preferredVirtualGPUOptions"
    )
    """Display options of vGPUs."""


class FeaturePreferences(Struct, frozen=True, kw_only=True):
    """Defaults for features of the platform."""

    preferred_acpi: FeatureState | None = None
    """ACPI tables and power events."""
    preferred_apic: FeatureAPIC | None = None
    """Interrupt controller."""
    preferred_hyperv: FeatureHyperv | None = None
    """Hyper-V enlightenments, for Windows."""
    preferred_kvm: FeatureKVM | None = None
    """How KVM shows itself to the guest."""
    preferred_pvspinlock: FeatureState | None = None
    """Paravirtual spinlocks."""
    preferred_smm: FeatureState | None = None
    """System management mode, which secure boot needs."""


class FirmwarePreferences(Struct, frozen=True, kw_only=True):
    """Defaults for firmware."""

    preferred_efi: EFI | None = None
    """Boots by UEFI, with these settings."""
    preferred_use_bios: bool | None = None
    """Boots by BIOS."""
    preferred_use_bios_serial: bool | None = None
    """Shows the BIOS on the serial console; needs preferredUseBios."""
    preferred_use_efi: bool | None = None
    """Deprecated: use preferredEfi."""
    preferred_use_secure_boot: bool | None = None
    """Deprecated: use preferredEfi.secureBoot."""


class MachinePreferences(Struct, frozen=True, kw_only=True):
    """Defaults for the machine type."""

    preferred_machine_type: str | None = None
    """Machine type, such as q35."""


class VolumePreferences(Struct, frozen=True, kw_only=True):
    """Defaults for volumes."""

    preferred_storage_class_name: str | None = None
    """StorageClass of DataVolume templates that name none."""


class CPUPreferenceRequirement(Struct, frozen=True, kw_only=True):
    """Processors that the guest needs."""

    guest: Int32
    """Fewest virtual CPUs."""


class MemoryPreferenceRequirement(Struct, frozen=True, kw_only=True):
    """Memory that the guest needs."""

    guest: Quantity
    """Least memory, such as 2Gi."""


class PreferenceRequirements(Struct, frozen=True, kw_only=True):
    """What a machine must have, or it is refused."""

    architecture: str | None = None
    """Architecture of the machine."""
    cpu: CPUPreferenceRequirement | None = None
    """Processors."""
    memory: MemoryPreferenceRequirement | None = None
    """Memory."""


class VirtualMachinePreferenceSpec(Struct, frozen=True, kw_only=True):
    """Defaults for machines; a value of the machine itself always wins."""

    annotations: Mapping[str, str] = NO_ENTRIES
    """Annotations of the instance."""
    clock: ClockPreferences | None = None
    """Clock and timers."""
    cpu: CPUPreferences | None = None
    """Layout and features of processors."""
    devices: DevicePreferences | None = None
    """Devices and their models."""
    features: FeaturePreferences | None = None
    """Features of the platform."""
    firmware: FirmwarePreferences | None = None
    """BIOS or UEFI."""
    machine: MachinePreferences | None = None
    """Machine type."""
    prefer_spread_socket_to_core_ratio: Int32 | None = None
    """Cores per socket for topology spread, default 2; cpu.spreadOptions.ratio goes first."""
    preferred_architecture: str | None = None
    """Architecture: amd64, arm64 or s390x."""
    preferred_launch_security: LaunchSecurity | None = None
    """Encryption of the guest's memory."""
    preferred_subdomain: str | None = None
    """Subdomain in the guest's DNS name."""
    preferred_termination_grace_period_seconds: Int64 | None = None
    """Seconds the guest gets to shut down."""
    requirements: PreferenceRequirements | None = None
    """What a machine must have to use the preference."""
    volumes: VolumePreferences | None = None
    """Storage of volumes."""


class VirtualMachinePreference(Struct, frozen=True, kw_only=True):
    """Defaults that suit an operating system, for machines of the same namespace."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachinePreferenceSpec
    """The defaults."""


class VirtualMachineClusterPreference(Struct, frozen=True, kw_only=True):
    """Defaults that suit an operating system, for machines of all namespaces."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachinePreferenceSpec
    """The defaults."""
