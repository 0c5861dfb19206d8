"""All other devices of a guest, and `Devices`, which holds them together."""

from typing import Annotated

from msgspec import field

from kubevirt.api.disks import Disk
from kubevirt.api.features import FeatureState
from kubevirt.api.interfaces import Interface
from kubevirt.api.struct import ATOMIC, Struct


class ClientPassthroughDevices(Struct, frozen=True, kw_only=True):
    """…"""


class Diag288Watchdog(Struct, frozen=True, kw_only=True):
    """…"""

    action: str | None = None


class I6300ESBWatchdog(Struct, frozen=True, kw_only=True):
    """…"""

    action: str | None = None


class Watchdog(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    diag288: Diag288Watchdog | None = None
    i6300esb: I6300ESBWatchdog | None = None


class DownwardMetrics(Struct, frozen=True, kw_only=True):
    """…"""


class FilesystemVirtiofs(Struct, frozen=True, kw_only=True):
    """…"""


class Filesystem(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    virtiofs: FilesystemVirtiofs


class VGPUDisplayOptions(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None
    ram_fb: FeatureState | None = field(default=None, name="ramFB")


class VGPUOptions(Struct, frozen=True, kw_only=True):
    """…"""

    display: VGPUDisplayOptions | None = None


class GPU(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    claim_name: str | None = None
    device_name: str | None = None
    request_name: str | None = None
    tag: str | None = None
    virtual_gpu_options: VGPUOptions | None = field(default=None, name="virtualGPUOptions")


class HostDevice(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    claim_name: str | None = None
    device_name: str | None = None
    request_name: str | None = None
    tag: str | None = None


class Input(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    type: str
    bus: str | None = None


class PanicDevice(Struct, frozen=True, kw_only=True):
    """…"""

    model: str | None = None


class Rng(Struct, frozen=True, kw_only=True):
    """…"""


class SoundDevice(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    model: str | None = None


class TPMDevice(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None
    persistent: bool | None = None


class VideoDevice(Struct, frozen=True, kw_only=True):
    """…"""

    type: str | None = None


class Devices(Struct, frozen=True, kw_only=True):
    """…"""

    autoattach_graphics_device: bool | None = None
    autoattach_input_device: bool | None = None
    autoattach_mem_balloon: bool | None = None
    autoattach_pod_interface: bool | None = None
    autoattach_serial_console: bool | None = None
    autoattach_vsock: bool | None = field(default=None, name="autoattachVSOCK")
    block_multi_queue: bool | None = None
    client_passthrough: ClientPassthroughDevices | None = None
    disable_hotplug: bool | None = None
    disks: tuple[Disk, ...] = ()
    downward_metrics: DownwardMetrics | None = None
    filesystems: Annotated[tuple[Filesystem, ...], ATOMIC] = ()
    gpus: Annotated[tuple[GPU, ...], ATOMIC] = ()
    host_devices: Annotated[tuple[HostDevice, ...], ATOMIC] = ()
    inputs: tuple[Input, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    log_serial_console: bool | None = None
    network_interface_multiqueue: bool | None = None
    panic_devices: tuple[PanicDevice, ...] = ()
    rng: Rng | None = None
    sound: SoundDevice | None = None
    tpm: TPMDevice | None = None
    use_virtio_transitional: bool | None = None
    video: VideoDevice | None = None
    watchdog: Watchdog | None = None
