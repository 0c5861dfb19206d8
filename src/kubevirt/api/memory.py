"""The guest's memory."""

from typing import Annotated

from kubevirt.api.struct import Quantity, Struct, enum


class Hugepages(Struct, frozen=True, kw_only=True):
    """Backs the guest's memory with huge pages of the node."""

    page_size: str | None = None
    """2Mi or 1Gi on amd64; the guest's memory must be a multiple of it."""


class ReservedOverhead(Struct, frozen=True, kw_only=True):
    """Additions to the memory that the launcher pod needs besides the guest's."""

    added_overhead: Quantity | None = None
    """Memory on top of the computed overhead, in the pod's request and limit."""
    mem_lock: Annotated[str | None, enum("NotRequired", "Required")] = None
    """Required lifts the memory lock limit, as DMA devices need; NotRequired (default) leaves it.
    """


class Memory(Struct, frozen=True, kw_only=True):
    """Size and backing of the guest's memory."""

    guest: Quantity | None = None
    """Memory the guest sees; taken from resources.requests.memory if not set."""
    hugepages: Hugepages | None = None
    """Uses huge pages, which the node must have set aside."""
    max_guest: Quantity | None = None
    """Ceiling for memory hotplug; guest times the cluster's hotplug ratio if not set."""
    reserved_overhead: ReservedOverhead | None = None
    """Adjusts the overhead of the launcher pod."""


class MemoryStatus(Struct, frozen=True, kw_only=True):
    """Memory of a running guest, which hotplug may change."""

    guest_at_boot: Quantity | None = None
    """Size when the guest booted."""
    guest_current: Quantity | None = None
    """Size the guest has now."""
    guest_requested: Quantity | None = None
    """Size the guest should reach by hotplug."""
    memory_overhead: Quantity | None = None
    """What the launcher pod takes besides the guest's memory."""
