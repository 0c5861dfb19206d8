"""The guest's memory."""

from kubevirt.api.struct import Quantity, Struct


class Hugepages(Struct, frozen=True, kw_only=True):
    """…"""

    page_size: str | None = None


class ReservedOverhead(Struct, frozen=True, kw_only=True):
    """…"""

    added_overhead: Quantity | None = None
    mem_lock: str | None = None


class Memory(Struct, frozen=True, kw_only=True):
    """…"""

    guest: Quantity | None = None
    hugepages: Hugepages | None = None
    max_guest: Quantity | None = None
    reserved_overhead: ReservedOverhead | None = None


class MemoryStatus(Struct, frozen=True, kw_only=True):
    """…"""

    guest_at_boot: Quantity | None = None
    guest_current: Quantity | None = None
    guest_requested: Quantity | None = None
    memory_overhead: Quantity | None = None
