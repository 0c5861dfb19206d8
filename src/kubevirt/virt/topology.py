"""How many processors a guest has, and in which shape. Asked by nearly everything else."""

from typing import Final

import msgspec

from kubevirt.api.domain import DomainSpec
from kubevirt.base.quantity import Quantity
from kubevirt.virt.errors import SpecError

VCPU_LIMIT: Final = 4096
"""The most that any machine type of QEMU takes; a spec that asks for more is a mistake."""


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    sockets: int = 1
    cores: int = 1
    threads: int = 1

    @property
    def vcpus(self) -> int:
        return self.sockets * self.cores * self.threads

    @property
    def vcpus_per_socket(self) -> int:
        return self.cores * self.threads


def topology_of(domain: DomainSpec) -> Topology:
    """As the spec says; without a word, one socket for each CPU of the resources, else one."""
    cpu = domain.cpu
    if cpu and (cpu.sockets or cpu.cores or cpu.threads):
        return checked(
            Topology(sockets=cpu.sockets or 1, cores=cpu.cores or 1, threads=cpu.threads or 1)
        )
    resources = domain.resources
    wanted = resources.limits.get("cpu") or resources.requests.get("cpu")
    # Sockets: guests place their work best when each CPU looks like one of its own.
    sockets = Quantity.from_json(wanted).value() if wanted else 1
    return checked(Topology(sockets=sockets or 1))


def largest_topology_of(domain: DomainSpec) -> Topology:
    """With all the sockets that can be plugged into the running guest."""
    topology = topology_of(domain)
    sockets = (domain.cpu and domain.cpu.max_sockets) or topology.sockets
    if sockets < topology.sockets:
        raise SpecError(
            f"the guest has {topology.sockets} CPU sockets but cpu.maxSockets allows {sockets}; "
            f"raise maxSockets or lower sockets"
        )
    return checked(msgspec.structs.replace(topology, sockets=sockets))


def checked(topology: Topology) -> Topology:
    parts = (topology.sockets, topology.cores, topology.threads)
    if min(parts) < 1:
        raise SpecError("cpu sockets, cores and threads must each be 1 or more")
    if max(parts) > VCPU_LIMIT or topology.vcpus > VCPU_LIMIT:
        raise SpecError(
            f"{'x'.join(map(str, parts))} sockets, cores and threads are more vCPUs than the "
            f"{VCPU_LIMIT} that QEMU can give a guest"
        )
    return topology
