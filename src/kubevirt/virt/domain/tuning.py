"""Which host CPUs and NUMA nodes the guest's threads and memory are bound to."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element


class VcpuPin(Element, frozen=True, kw_only=True):
    vcpu: Attr[int]
    cpuset: Attr[str]


class EmulatorPin(Element, frozen=True, kw_only=True):
    cpuset: Attr[str]


class IoThreadPin(Element, frozen=True, kw_only=True):
    iothread: Attr[int]
    cpuset: Attr[str]


class VcpuSched(Element, frozen=True, kw_only=True):
    vcpus: Attr[str]
    scheduler: Attr[str]
    priority: Attr[int | None] = None


class CpuTune(Element, frozen=True, kw_only=True):
    vcpu_pins: tuple[VcpuPin, ...] = field(default=(), name="vcpupin")
    emulator_pin: EmulatorPin | None = field(default=None, name="emulatorpin")
    iothread_pins: tuple[IoThreadPin, ...] = field(default=(), name="iothreadpin")
    vcpu_scheds: tuple[VcpuSched, ...] = field(default=(), name="vcpusched")


class NumaMemory(Element, frozen=True, kw_only=True):
    mode: Attr[str]
    nodeset: Attr[str]


class NumaMemoryNode(Element, frozen=True, kw_only=True):
    """Binds one cell of the guest to nodes of the host."""

    cellid: Attr[int]
    mode: Attr[str]
    nodeset: Attr[str]


class NumaTune(Element, frozen=True, kw_only=True):
    memory: NumaMemory | None = None
    memnodes: tuple[NumaMemoryNode, ...] = field(default=(), name="memnode")
