"""Placement: which CPU of the host runs which thread of the guest, when CPUs are not shared.

The threads of one guest core go to threads of one host core, because they share its caches; only
what is left over is put together from pieces, first within a NUMA node, then, unless the guest sees
the nodes itself, across them. QEMU's own thread takes what remains.
"""

from collections.abc import Iterable, Iterator

import msgspec

from kubevirt.virt.convert.facts import HostCpu, NumaNode
from kubevirt.virt.errors import UnsupportedError
from kubevirt.virt.topology import Topology


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    vcpus: tuple[int, ...]
    """Host CPU of each vCPU, in the guest's order."""
    emulator: int | None = None
    """Host CPU of QEMU's own thread, if it has one to itself."""


def place(
    topology: Topology,
    cpu_set: tuple[int, ...],
    nodes: tuple[NumaNode, ...],
    *,
    within_nodes: bool,
    with_emulator: bool,
) -> Placement:
    """The same input always gives the same placement."""
    wanted = topology.sockets * topology.cores
    width = topology.threads
    whole: list[tuple[int, ...]] = []
    pieces: list[list[int]] = []
    for cores in _cores_by_node(cpu_set, nodes):
        spare: list[int] = []
        for core in cores:
            *groups, rest = _groups(core, width)
            whole.extend(groups)
            spare.extend(rest)
        pieces.append(spare)
    made_up, left = _from_pieces(pieces, width, within_nodes=within_nodes)
    guest_cores = [*whole, *made_up]
    if len(guest_cores) < wanted:
        missing = wanted - len(guest_cores)
        why = (
            "without crossing numa cell boundaries for individual cores"
            if within_nodes and len(cpu_set) >= topology.vcpus
            else "not enough exclusive threads provided"
        )
        raise UnsupportedError(
            f"could not fit {missing} core(s) of the guest on the {len(cpu_set)} CPUs that the pod "
            f"has to itself: {why}; ask for fewer vCPUs or use a larger node"
        )
    unused = [*left, *(cpu for core in guest_cores[wanted:] for cpu in core)]
    if with_emulator and not unused:
        raise UnsupportedError(
            "no CPU allocated for the emulation thread: all are taken by vCPUs; "
            "remove cpu.isolateEmulatorThread or give the pod one more"
        )
    return Placement(
        vcpus=tuple(cpu for core in guest_cores[:wanted] for cpu in core),
        emulator=unused[0] if with_emulator else None,
    )


def _cores_by_node(
    cpu_set: tuple[int, ...], nodes: tuple[NumaNode, ...]
) -> Iterator[list[list[int]]]:
    """The pod's CPUs, sorted into cores and these into nodes."""
    ours = set(cpu_set)
    if not nodes:
        # Nothing is known of the host, so each CPU counts as a core of one node.
        yield [[cpu] for cpu in sorted(ours)]
    for node in nodes:
        seen: set[int] = set()
        cores: list[list[int]] = []
        for cpu in node.cpus:
            if cpu.id not in seen:
                threads = _threads(cpu)
                seen.update(threads)
                cores.append([thread for thread in threads if thread in ours])
        yield cores


def _threads(cpu: HostCpu) -> tuple[int, ...]:
    return cpu.siblings or (cpu.id,)


def _groups(cpus: list[int], width: int) -> Iterator[tuple[int, ...]]:
    """Groups of `width`, and at last what is left, perhaps nothing."""
    whole = len(cpus) - len(cpus) % width
    for start in range(0, whole, width):
        yield tuple(cpus[start : start + width])
    yield tuple(cpus[whole:])


def _from_pieces(
    pieces: Iterable[list[int]], width: int, *, within_nodes: bool
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Guest cores made of single threads, and the threads that are left."""
    made: list[tuple[int, ...]] = []
    left: list[int] = []
    for spare in pieces:
        *groups, rest = _groups(spare, width)
        made.extend(groups)
        left.extend(rest)
    if within_nodes:
        return made, left
    *groups, rest = _groups(left, width)
    return [*made, *groups], list(rest)
