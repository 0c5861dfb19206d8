"""Dedicated CPUs: threads of a guest's core stay together, and nodes are crossed last."""

import pytest

from kubevirt.virt.convert.facts import HostCpu, NumaNode
from kubevirt.virt.convert.placement import Placement, place
from kubevirt.virt.errors import UnsupportedError
from kubevirt.virt.topology import Topology


def a_node(number: int, *cores: tuple[int, ...]) -> NumaNode:
    cpus = tuple(HostCpu(id=cpu, siblings=core) for core in cores for cpu in core)
    return NumaNode(id=number, cpus=cpus)


TWO_NODES = (a_node(0, (0, 4), (1, 5)), a_node(1, (2, 6), (3, 7)))


def placed(
    topology: Topology,
    cpus: tuple[int, ...],
    nodes: tuple[NumaNode, ...] = TWO_NODES,
    *,
    within_nodes: bool = False,
    with_emulator: bool = False,
) -> Placement:
    return place(topology, cpus, nodes, within_nodes=within_nodes, with_emulator=with_emulator)


def test_threads_of_a_core_share_a_core_of_the_host() -> None:
    placement = placed(Topology(cores=2, threads=2), (0, 1, 2, 4, 6))
    assert placement.vcpus == (0, 4, 2, 6)


def test_pieces_of_one_node_are_joined_before_nodes_are_crossed() -> None:
    placement = placed(Topology(cores=2, threads=2), (0, 1, 2, 3))
    assert placement.vcpus == (0, 1, 2, 3)


def test_nodes_are_crossed_when_nothing_else_is_left() -> None:
    assert placed(Topology(cores=1, threads=2), (0, 2)).vcpus == (0, 2)


def test_nodes_are_not_crossed_when_the_guest_sees_them() -> None:
    with pytest.raises(UnsupportedError, match="without crossing numa cell boundaries"):
        placed(Topology(cores=1, threads=2), (0, 2), within_nodes=True)


def test_a_single_threaded_guest_takes_the_cpus_in_order() -> None:
    assert placed(Topology(sockets=3), (5, 1, 2)).vcpus == (1, 5, 2)


def test_without_knowledge_of_the_host_each_cpu_is_a_core() -> None:
    assert placed(Topology(cores=2), (7, 3), ()).vcpus == (3, 7)


def test_the_emulator_gets_what_is_left() -> None:
    placement = placed(Topology(cores=1, threads=2), (0, 1, 4), with_emulator=True)
    assert placement == Placement(vcpus=(0, 4), emulator=1)


def test_the_emulator_may_take_a_whole_core() -> None:
    placement = placed(Topology(cores=1, threads=2), (0, 1, 4, 5), with_emulator=True)
    assert placement == Placement(vcpus=(0, 4), emulator=1)


def test_an_emulator_without_a_cpu_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="no CPU allocated for the emulation thread"):
        placed(Topology(cores=2), (0, 1), with_emulator=True)


def test_too_few_cpus_are_refused_with_the_number_that_lacks() -> None:
    with pytest.raises(UnsupportedError, match=r"could not fit 2 core\(s\).*not enough exclusive"):
        placed(Topology(cores=4), (0, 1))
