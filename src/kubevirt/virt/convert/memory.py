"""Memory: its size, how far it grows, what backs it."""

from kubevirt.virt.annotations import MEMFD
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.convert.hugepages import hugepage_bytes
from kubevirt.virt.convert.numa import numa_cells
from kubevirt.virt.domain.memory import (
    BackingAccess,
    BackingAllocation,
    BackingSource,
    HugePage,
    HugePages,
    MaxMemory,
    MemoryBacking,
    Size,
)
from kubevirt.virt.errors import SpecError
from kubevirt.virt.memory import guest_bytes, max_guest_bytes


def memory(guest: Guest) -> Size:
    size = guest_bytes(guest.domain)
    if guest.has_hugepages:
        page = hugepage_bytes(guest)
        if size < page or size % page:
            raise SpecError(
                f"the guest's memory of {size} bytes is not a multiple of the huge page size "
                f"{page}; change memory.guest or memory.hugepages.pageSize"
            )
    return Size(value=size)


def max_memory(guest: Guest) -> MaxMemory | None:
    most = max_guest_bytes(guest.domain)
    # virtio-mem takes no slot, but libvirt before 10 wants to hear of one.
    return MaxMemory(slots=1, value=most) if most else None


def memory_backing(guest: Guest) -> MemoryBacking | None:
    hugepages = HugePages(pages=_pages(guest)) if guest.has_hugepages else None
    cells, cpu = numa_cells(guest), guest.domain.cpu
    shares_memory = bool(guest.devices.filesystems)
    if not hugepages and not shares_memory:
        return None
    return MemoryBacking(
        hugepages=hugepages,
        nosharepages=bool(cells and cpu and cpu.realtime is not None),
        source=BackingSource(type="memfd") if needs_memfd(guest) else None,
        access=BackingAccess(mode="shared") if shares_memory else None,
        # Memory bound to a node must be there at the start, not when the node is full.
        allocation=BackingAllocation(mode="immediate") if cells else None,
    )


def _pages(guest: Guest) -> tuple[HugePage, ...]:
    return tuple(
        HugePage(size=hugepage_bytes(guest), nodeset=str(cell.id)) for cell in numa_cells(guest)
    )


def needs_memfd(guest: Guest) -> bool:
    """Shared memory must have a name that another process can map; huge pages do best with one."""
    wanted = guest.vmi.metadata.annotations.get(MEMFD) != "false"
    return bool(guest.devices.filesystems) or (guest.has_hugepages and wanted)
