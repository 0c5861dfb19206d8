"""`<domain>`: one guest as libvirt sees it."""

from msgspec import field

from kubevirt.virt.domain.boot import Boot
from kubevirt.virt.domain.clock import Clock
from kubevirt.virt.domain.cpu import Cpu, Vcpu, VcpuStates
from kubevirt.virt.domain.devices import Devices
from kubevirt.virt.domain.features import Features
from kubevirt.virt.domain.memory import MaxMemory, MemoryBacking, Size
from kubevirt.virt.domain.metadata import Metadata
from kubevirt.virt.domain.security import LaunchSecurity
from kubevirt.virt.domain.sysinfo import SysInfo
from kubevirt.virt.domain.tuning import CpuTune, NumaTune
from kubevirt.virt.domain.xml.element import Attr, Element


class Domain(Element, frozen=True, kw_only=True):
    """In the order in which libvirt writes its elements."""

    type: Attr[str]
    """kvm, or qemu for emulation."""
    id: Attr[int | None] = None
    """Set by libvirt while the guest runs."""
    name: str
    uuid: str | None = None
    metadata: Metadata | None = None
    max_memory: MaxMemory | None = field(default=None, name="maxMemory")
    memory: Size
    current_memory: Size | None = field(default=None, name="currentMemory")
    memory_backing: MemoryBacking | None = field(default=None, name="memoryBacking")
    vcpu: Vcpu | None = None
    vcpus: VcpuStates | None = None
    iothreads: int | None = None
    cputune: CpuTune | None = None
    numatune: NumaTune | None = None
    sysinfos: tuple[SysInfo, ...] = field(default=(), name="sysinfo")
    os: Boot
    features: Features | None = None
    cpu: Cpu | None = None
    clock: Clock | None = None
    on_poweroff: str | None = None
    on_reboot: str | None = None
    on_crash: str | None = None
    devices: Devices = Devices()
    launch_security: LaunchSecurity | None = field(default=None, name="launchSecurity")
