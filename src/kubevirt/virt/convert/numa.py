"""NUMA: the guest sees the nodes that its CPUs are on, with its memory split between them."""

import msgspec

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.convert.hugepages import hugepage_bytes
from kubevirt.virt.domain.tuning import NumaMemory, NumaMemoryNode, NumaTune
from kubevirt.virt.errors import SpecError, UnsupportedError
from kubevirt.virt.memory import guest_bytes


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A NUMA cell of the guest and the node it mirrors."""

    id: int
    node: int
    vcpus: tuple[int, ...]
    memory_bytes: int


def numa_cells(guest: Guest) -> tuple[Cell, ...]:
    """One for each node that runs a vCPU; none unless the spec asks and the node tells."""
    nodes = guest.facts.host.numa_nodes
    if not guest.has_numa_passthrough or not nodes:
        return ()
    if guest.placement is None:
        raise SpecError(
            "cpu.numa.guestMappingPassthrough needs CPUs of its own; set cpu.dedicatedCpuPlacement"
        )
    if not guest.has_hugepages:
        raise SpecError(
            "passing through a numa topology is restricted to VMIs with hugepages enabled; "
            "set memory.hugepages"
        )
    node_of = {cpu.id: node.id for node in nodes for cpu in node.cpus}
    vcpus: dict[int, list[int]] = {}
    for number, cpu in enumerate(guest.placement.vcpus):
        vcpus.setdefault(node_of[cpu], []).append(number)
    used = [node.id for node in nodes if node.id in vcpus]
    return tuple(
        Cell(id=position, node=node, vcpus=tuple(vcpus[node]), memory_bytes=share)
        for position, (node, share) in enumerate(zip(used, _shares(guest, len(used)), strict=True))
    )


def numatune(guest: Guest) -> NumaTune | None:
    cells = numa_cells(guest)
    if not cells:
        return None
    nodes = ",".join(str(cell.node) for cell in cells)
    return NumaTune(
        memory=NumaMemory(mode="strict", nodeset=nodes),
        memnodes=tuple(
            NumaMemoryNode(cellid=cell.id, mode="strict", nodeset=str(cell.node)) for cell in cells
        ),
    )


def _shares(guest: Guest, count: int) -> list[int]:
    """The memory in whole huge pages, as evenly as they go."""
    page = hugepage_bytes(guest)
    pages, rest = divmod(guest_bytes(guest.domain), page)
    if rest or pages < count:
        raise UnsupportedError(
            f"the guest's memory cannot be split in pages of {page} bytes over {count} NUMA nodes; "
            f"change memory.guest to a multiple of the page size, one page for each node or more"
        )
    each, more = divmod(pages, count)
    return [(each + (position < more)) * page for position in range(count)]
