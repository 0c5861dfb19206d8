"""The guest's memory: its size, how far it can grow, what backs it on the host."""

from msgspec import field

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element, Flag, Text


class Size(Element, frozen=True, kw_only=True):
    unit: Attr[str] = "b"
    value: Text[int]


class MaxMemory(Element, frozen=True, kw_only=True):
    slots: Attr[int | None] = None
    unit: Attr[str] = "b"
    value: Text[int]


class HugePage(Element, frozen=True, kw_only=True):
    size: Attr[int]
    unit: Attr[str] = "b"
    nodeset: Attr[str | None] = None


class HugePages(Element, frozen=True, kw_only=True):
    pages: tuple[HugePage, ...] = field(default=(), name="page")


class BackingSource(Element, frozen=True, kw_only=True):
    type: Attr[str]


class BackingAccess(Element, frozen=True, kw_only=True):
    mode: Attr[str]


class BackingAllocation(Element, frozen=True, kw_only=True):
    mode: Attr[str]


class MemoryBacking(Element, frozen=True, kw_only=True):
    hugepages: HugePages | None = None
    nosharepages: Flag = False
    source: BackingSource | None = None
    access: BackingAccess | None = None
    allocation: BackingAllocation | None = None


class MemoryTarget(Element, frozen=True, kw_only=True):
    size: Size
    node: int = 0
    block: Size | None = None
    requested: Size | None = None


class MemoryDevice(Element, frozen=True, kw_only=True):
    """`<memory>` among the devices: memory plugged into a running guest."""

    model: Attr[str]
    target: MemoryTarget
    alias: Alias | None = None
