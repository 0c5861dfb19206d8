"""The guest's processors: model, features, topology, NUMA cells."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element, Text, YesNo


class CpuModel(Element, frozen=True, kw_only=True):
    fallback: Attr[str | None] = None
    name: Text[str]


class CpuFeature(Element, frozen=True, kw_only=True):
    policy: Attr[str | None] = None
    name: Attr[str]


class CpuTopology(Element, frozen=True, kw_only=True):
    sockets: Attr[int]
    cores: Attr[int]
    threads: Attr[int]


class NumaCell(Element, frozen=True, kw_only=True):
    id: Attr[int]
    cpus: Attr[str]
    memory: Attr[int]
    unit: Attr[str] = "b"


class Numa(Element, frozen=True, kw_only=True):
    cells: tuple[NumaCell, ...] = field(default=(), name="cell")


class Cpu(Element, frozen=True, kw_only=True):
    mode: Attr[str | None] = None
    """host-model, host-passthrough, maximum or custom."""
    check: Attr[str | None] = None
    migratable: Attr[str | None] = None
    model: CpuModel | None = None
    vendor: str | None = None
    topology: CpuTopology | None = None
    features: tuple[CpuFeature, ...] = field(default=(), name="feature")
    numa: Numa | None = None


class Vcpu(Element, frozen=True, kw_only=True):
    """`<vcpu>`: how many processors there can be."""

    placement: Attr[str | None] = None
    current: Attr[int | None] = None
    count: Text[int]


class VcpuState(Element, frozen=True, kw_only=True):
    id: Attr[int]
    enabled: YesNo = None
    hotpluggable: YesNo = None
    order: Attr[int | None] = None


class VcpuStates(Element, frozen=True, kw_only=True):
    """`<vcpus>`: which of them are plugged in at the start."""

    vcpus: tuple[VcpuState, ...] = field(default=(), name="vcpu")
