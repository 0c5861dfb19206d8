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
from kubevirt.api.struct import NO_ENTRIES, Int64, Quantity, Struct


class SpreadOptions(Struct, frozen=True, kw_only=True):
    """…"""

    across: str | None = None
    ratio: Int64 | None = None


class CPUPreferences(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_cpu_features: tuple[CPUFeature, ...] = field(default=(), name="preferredCPUFeatures")
    preferred_cpu_topology: str | None = field(default=None, name="preferredCPUTopology")
    spread_options: SpreadOptions | None = None


class ClockPreferences(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_clock_offset: ClockOffset | None = None
    preferred_timer: Timer | None = None


class DevicePreferences(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_autoattach_graphics_device: bool | None = None
    preferred_autoattach_input_device: bool | None = None
    preferred_autoattach_mem_balloon: bool | None = None
    preferred_autoattach_pod_interface: bool | None = None
    preferred_autoattach_serial_console: bool | None = None
    preferred_block_multi_queue: bool | None = None
    preferred_cdrom_bus: str | None = None
    preferred_disable_hotplug: bool | None = None
    preferred_disk_block_size: BlockSize | None = None
    preferred_disk_bus: str | None = None
    preferred_disk_cache: str | None = None
    preferred_disk_dedicated_io_thread: bool | None = None
    preferred_disk_io: str | None = field(default=None, name="preferredDiskIO")
    preferred_input_bus: str | None = None
    preferred_input_type: str | None = None
    preferred_interface_masquerade: InterfaceMasquerade | None = None
    preferred_interface_model: str | None = None
    preferred_lun_bus: str | None = None
    preferred_network_interface_multi_queue: bool | None = None
    preferred_panic_device_model: str | None = None
    preferred_rng: Rng | None = None
    preferred_sound_model: str | None = None
    preferred_tpm: TPMDevice | None = field(default=None, name="preferredTPM")
    preferred_use_virtio_transitional: bool | None = None
    preferred_video_type: str | None = None
    preferred_virtual_gpu_options: VGPUOptions | None = field(
        default=None, name="preferredVirtualGPUOptions"
    )


class FeaturePreferences(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_acpi: FeatureState | None = None
    preferred_apic: FeatureAPIC | None = None
    preferred_hyperv: FeatureHyperv | None = None
    preferred_kvm: FeatureKVM | None = None
    preferred_pvspinlock: FeatureState | None = None
    preferred_smm: FeatureState | None = None


class FirmwarePreferences(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_efi: EFI | None = None
    preferred_use_bios: bool | None = None
    preferred_use_bios_serial: bool | None = None
    preferred_use_efi: bool | None = None
    preferred_use_secure_boot: bool | None = None


class MachinePreferences(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_machine_type: str | None = None


class VolumePreferences(Struct, frozen=True, kw_only=True):
    """…"""

    preferred_storage_class_name: str | None = None


class CPUPreferenceRequirement(Struct, frozen=True, kw_only=True):
    """…"""

    guest: Int64


class MemoryPreferenceRequirement(Struct, frozen=True, kw_only=True):
    """…"""

    guest: Quantity


class PreferenceRequirements(Struct, frozen=True, kw_only=True):
    """…"""

    architecture: str | None = None
    cpu: CPUPreferenceRequirement | None = None
    memory: MemoryPreferenceRequirement | None = None


class VirtualMachinePreferenceSpec(Struct, frozen=True, kw_only=True):
    """…"""

    annotations: Mapping[str, str] = NO_ENTRIES
    clock: ClockPreferences | None = None
    cpu: CPUPreferences | None = None
    devices: DevicePreferences | None = None
    features: FeaturePreferences | None = None
    firmware: FirmwarePreferences | None = None
    machine: MachinePreferences | None = None
    prefer_spread_socket_to_core_ratio: Int64 | None = None
    preferred_architecture: str | None = None
    preferred_launch_security: LaunchSecurity | None = None
    preferred_subdomain: str | None = None
    preferred_termination_grace_period_seconds: Int64 | None = None
    requirements: PreferenceRequirements | None = None
    volumes: VolumePreferences | None = None


class VirtualMachinePreference(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachinePreferenceSpec


class VirtualMachineClusterPreference(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachinePreferenceSpec
