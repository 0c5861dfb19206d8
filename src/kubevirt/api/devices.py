"""All other devices of a guest, and `Devices`, which holds them together."""

from typing import Annotated

from msgspec import field

from kubevirt.api.disks import Disk
from kubevirt.api.features import FeatureState
from kubevirt.api.interfaces import Interface
from kubevirt.api.struct import ATOMIC, Struct, mark


class ClientPassthroughDevices(Struct, frozen=True, kw_only=True):
    """Four slots for redirected USB devices; has no settings."""


class Diag288Watchdog(Struct, frozen=True, kw_only=True):
    """Watchdog of s390x."""

    action: str | None = None
    """reset (default), poweroff or shutdown when the guest stops answering."""


class I6300ESBWatchdog(Struct, frozen=True, kw_only=True):
    """PCI watchdog by Intel."""

    action: str | None = None
    """reset (default), poweroff or shutdown when the guest stops answering."""


class Watchdog(Struct, frozen=True, kw_only=True):
    """Device that acts when the guest hangs; exactly one model."""

    name: str
    """Name of the device."""
    diag288: Diag288Watchdog | None = None
    """Model for s390x."""
    i6300esb: I6300ESBWatchdog | None = None
    """Model for amd64."""


class DownwardMetrics(Struct, frozen=True, kw_only=True):
    """Serial port that reports host metrics to the guest; has no settings."""


class FilesystemVirtiofs(Struct, frozen=True, kw_only=True):
    """Share by virtiofs; has no settings."""


class Filesystem(Struct, frozen=True, kw_only=True):
    """Volume that the guest mounts as a directory."""

    name: str
    """Volume of the same name to share; also the tag for mounting."""
    virtiofs: FilesystemVirtiofs
    """Protocol of the share, required."""


class VGPUDisplayOptions(Struct, frozen=True, kw_only=True):
    """Display of a virtual GPU."""

    enabled: bool | None = None
    """Gives the guest a screen driven by the vGPU; true if not set."""
    ram_fb: FeatureState | None = field(default=None, name="ramFB")
    """Simple framebuffer until the GPU's driver loads; on if not set."""


class VGPUOptions(Struct, frozen=True, kw_only=True):
    """Settings of a virtual GPU."""

    display: VGPUDisplayOptions | None = None
    """Screen of the vGPU."""


class GPU(Struct, frozen=True, kw_only=True):
    """Graphics card, or a slice of one, handed to the guest."""

    name: str
    """Unique name of this device in the guest."""
    claim_name: str | None = None
    """Entry of spec.resourceClaims that provides the card; excludes deviceName."""
    device_name: str | None = None
    """Resource of a device plugin, such as nvidia.com/TU104GL; must be a permitted host device."""
    request_name: str | None = None
    """Request inside the claim; goes with claimName."""
    tag: str | None = None
    """Label for this device in the config drive's metadata."""
    virtual_gpu_options: VGPUOptions | None = field(default=None, name="virtualGPUOptions")
    """Settings for mediated (virtual) GPUs."""


class HostDevice(Struct, frozen=True, kw_only=True):
    """PCI, mediated or USB device of the node handed to the guest."""

    name: str
    """Unique name of this device in the guest."""
    claim_name: str | None = None
    """Entry of spec.resourceClaims that provides the device; excludes deviceName."""
    device_name: str | None = None
    """Resource of a device plugin; must be a permitted host device."""
    request_name: str | None = None
    """Request inside the claim; goes with claimName."""
    tag: str | None = None
    """Label for this device in the config drive's metadata."""


class Input(Struct, frozen=True, kw_only=True):
    """Input device of the guest."""

    name: str
    """Name of the device."""
    type: str
    """Only tablet, a pointer with absolute position."""
    bus: str | None = None
    """usb (default) or virtio."""


class PanicDevice(Struct, frozen=True, kw_only=True):
    """Device by which a crashing guest tells the host."""

    model: str | None = None
    """hyperv, isa or pvpanic; depends on the architecture if not set."""


class Rng(Struct, frozen=True, kw_only=True):
    """Random number generator fed by the host; has no settings."""


class SoundDevice(Struct, frozen=True, kw_only=True):
    """Sound card without a real output."""

    name: str
    """Name of the device."""
    model: str | None = None
    """ich9 (default) or ac97."""


class TPMDevice(Struct, frozen=True, kw_only=True):
    """Emulated TPM 2.0."""

    enabled: bool | None = None
    """false removes a TPM that a preference adds; true if not set."""
    persistent: bool | None = None
    """Keeps the TPM's content in a state PVC over restarts; false by default."""


class VideoDevice(Struct, frozen=True, kw_only=True):
    """Graphics adapter."""

    type: str | None = None
    """vga, bochs, virtio or ramfb; by default vga (BIOS) or bochs (EFI) on amd64, virtio elsewhere.
    """


class Devices(Struct, frozen=True, kw_only=True):
    """Everything plugged into the guest, and which defaults are added."""

    autoattach_graphics_device: bool | None = None
    """false leaves out the graphics adapter and with it VNC; true by default."""
    autoattach_input_device: bool | None = None
    """Adds a tablet when no input is listed; false by default."""
    autoattach_mem_balloon: bool | None = None
    """Adds a memory balloon, the source of guest memory statistics; true by default."""
    autoattach_pod_interface: bool | None = None
    """Adds the pod network when no network is listed; true by default."""
    autoattach_serial_console: bool | None = None
    """Adds the serial console that virtctl console opens; true by default."""
    autoattach_vsock: bool | None = field(default=None, name="autoattachVSOCK")
    """Adds a vsock device with an automatic CID; false by default, gate VSOCK."""
    block_multi_queue: bool | None = None
    """One queue per vCPU for virtio disks; false by default."""
    client_passthrough: ClientPassthroughDevices | None = None
    """Lets virtctl usbredir plug a client's USB devices into the guest."""
    disable_hotplug: bool | None = None
    """Refuses disk hotplug and saves its controllers and ports; false by default."""
    disks: Annotated[tuple[Disk, ...], mark(maxItems=256)] = ()
    """Disks, LUNs and CD-ROM drives."""
    downward_metrics: DownwardMetrics | None = None
    """Serial port with host metrics; gate DownwardMetrics."""
    filesystems: Annotated[tuple[Filesystem, ...], ATOMIC] = ()
    """Volumes shared as directories."""
    gpus: Annotated[tuple[GPU, ...], ATOMIC] = ()
    """Graphics cards handed through."""
    host_devices: Annotated[tuple[HostDevice, ...], ATOMIC] = ()
    """Other devices handed through; gate HostDevices for device plugins."""
    inputs: tuple[Input, ...] = ()
    """Pointer devices."""
    interfaces: Annotated[tuple[Interface, ...], mark(maxItems=256)] = ()
    """Network cards, each with an entry of the same name in networks."""
    log_serial_console: bool | None = None
    """Streams the console to container guest-console-log; cluster default if not set."""
    network_interface_multiqueue: bool | None = None
    """Several queues for virtio network cards, by number of vCPUs."""
    panic_devices: tuple[PanicDevice, ...] = ()
    """Devices that report a crash of the guest."""
    rng: Rng | None = None
    """Hardware random numbers."""
    sound: SoundDevice | None = None
    """Sound card; none if not set."""
    tpm: TPMDevice | None = None
    """Trusted platform module; none if not set."""
    use_virtio_transitional: bool | None = None
    """Legacy virtio for systems as old as RHEL 6; false by default."""
    video: VideoDevice | None = None
    """Model of the graphics adapter."""
    watchdog: Watchdog | None = None
    """Reacts to a hanging guest."""
