"""Processors: count, shape, model, features."""

from kubevirt.api.cpu import CPU
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.convert.memory import max_memory, needs_memfd
from kubevirt.virt.convert.notes import Note
from kubevirt.virt.convert.numa import numa_cells
from kubevirt.virt.domain.cpu import (
    Cpu,
    CpuFeature,
    CpuModel,
    CpuTopology,
    Numa,
    NumaCell,
    Vcpu,
    VcpuState,
    VcpuStates,
)
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.memory import guest_bytes
from kubevirt.virt.topology import Topology, largest_topology_of

HOST_MODEL = "host-model"
HOST_PASSTHROUGH = "host-passthrough"
POLICIES = ("force", "require", "optional", "disable", "forbid")


def vcpu(guest: Guest) -> Vcpu:
    return Vcpu(placement="static", count=_largest(guest).vcpus)


def vcpus(guest: Guest) -> VcpuStates | None:
    """Which processors are plugged in, if more can be. Those of the first socket always are."""
    most = _largest(guest).vcpus
    if most == guest.topology.vcpus:
        return None
    first_socket = guest.topology.vcpus_per_socket
    return VcpuStates(
        vcpus=tuple(
            VcpuState(
                id=number,
                enabled=number < guest.topology.vcpus,
                hotpluggable=number >= first_socket,
            )
            for number in range(most)
        )
    )


def cpu(guest: Guest) -> Cpu:
    spec = guest.domain.cpu or CPU()
    model = spec.model or guest.architecture.cpu_model
    largest = _largest(guest)
    topology = CpuTopology(sockets=largest.sockets, cores=largest.cores, threads=largest.threads)
    features, numa = _features(guest, spec, model), _numa(guest, largest.vcpus)
    if model in {HOST_MODEL, HOST_PASSTHROUGH}:
        return Cpu(mode=_mode(guest, model), topology=topology, features=features, numa=numa)
    known = guest.facts.host.cpu_models
    if known and model not in known:
        raise UnsupportedError(
            f"the CPU model {shown(model)} is not offered by this node; "
            f"use host-model or one that the node lists under cpu-model.node.kubevirt.io"
        )
    return Cpu(
        mode="custom",
        model=CpuModel(name=model),
        topology=topology,
        features=features,
        numa=numa,
    )


def notes(guest: Guest) -> tuple[Note, ...]:
    model = (guest.domain.cpu and guest.domain.cpu.model) or guest.architecture.cpu_model
    mode = _mode(guest, model)
    if model != HOST_PASSTHROUGH or mode == model:
        return ()
    message = f"CPU model host-passthrough is not available under emulation; using {mode}"
    return (Note(reason="CpuModelEmulated", message=message),)


def _mode(guest: Guest, model: str) -> str:
    if model == HOST_PASSTHROUGH and not guest.facts.host.kvm:
        return guest.facts.host.emulated_passthrough
    return model


def _largest(guest: Guest) -> Topology:
    can_grow = guest.architecture.cpu_hotplug
    return largest_topology_of(guest.domain) if can_grow else guest.topology


def _features(guest: Guest, spec: CPU, model: str) -> tuple[CpuFeature, ...]:
    for feature in spec.features:
        if feature.policy and feature.policy not in POLICIES:
            raise SpecError(
                f"the CPU feature {shown(feature.name)} has the policy {shown(feature.policy)}; "
                f"use one of {', '.join(POLICIES)}"
            )
    features = tuple(
        CpuFeature(name=feature.name, policy=feature.policy or "require")
        for feature in spec.features
    )
    is_named = bool(spec.model) and model not in {HOST_MODEL, HOST_PASSTHROUGH}
    if guest.architecture.mpx_trouble and is_named and "mpx" not in {f.name for f in features}:
        features += (CpuFeature(name="mpx", policy="disable"),)
    return features


def _numa(guest: Guest, count: int) -> Numa | None:
    if cells := numa_cells(guest):
        return Numa(
            cells=tuple(
                NumaCell(id=cell.id, cpus=",".join(map(str, cell.vcpus)), memory=cell.memory_bytes)
                for cell in cells
            )
        )
    if not needs_memfd(guest) and max_memory(guest) is None:
        return None
    # QEMU takes memory from a memfd, and plugs memory in, only for NUMA cells; so there is one.
    whole = NumaCell(id=0, cpus=f"0-{count - 1}", memory=guest_bytes(guest.domain))
    return Numa(cells=(whole,))
