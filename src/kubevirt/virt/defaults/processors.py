"""CPU topology, model, room to grow."""

from typing import Final

from msgspec.structs import replace

from kubevirt.api.cpu import CPU
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.base.quantity import Quantity
from kubevirt.virt.architecture import Architecture
from kubevirt.virt.defaults.settings import Settings
from kubevirt.virt.topology import topology_of

Spec = VirtualMachineInstanceSpec

VCPU_CEILING: Final = 512
"""Room for growth ends here: each possible vCPU costs memory and boot time."""


def with_cpu_request(spec: Spec, settings: Settings) -> Spec:
    resources = spec.domain.resources
    if resources.requests.get("cpu"):
        return spec
    is_dedicated = spec.domain.cpu is not None and spec.domain.cpu.dedicated_cpu_placement
    limit = resources.limits.get("cpu")
    limited = limit if limit and Quantity.from_json(limit) else None
    request = limited or (None if is_dedicated else settings.cpu_request)
    if not request:
        return spec
    resources = replace(resources, requests={**resources.requests, "cpu": request})
    return replace(spec, domain=replace(spec.domain, resources=resources))


def with_topology(spec: Spec) -> Spec:
    """Written down only if nothing of it was, as upstream does."""
    cpu = spec.domain.cpu or CPU()
    if not (cpu.sockets or cpu.cores or cpu.threads):
        topology = topology_of(spec.domain)
        cpu = replace(cpu, sockets=topology.sockets, cores=topology.cores, threads=topology.threads)
    return replace(spec, domain=replace(spec.domain, cpu=cpu))


def with_model(spec: Spec, settings: Settings, architecture: Architecture) -> Spec:
    cpu = spec.domain.cpu or CPU()
    cpu = replace(cpu, model=cpu.model or settings.cpu_model(architecture))
    return replace(spec, domain=replace(spec.domain, cpu=cpu))


def with_max_sockets(spec: Spec, settings: Settings, architecture: Architecture) -> Spec:
    cpu = spec.domain.cpu
    if cpu is None or cpu.max_sockets or not settings.grows_live or not architecture.cpu_hotplug:
        return spec
    topology = topology_of(spec.domain)
    if settings.max_sockets:
        most = max(settings.max_sockets, topology.sockets)
    else:
        most = topology.sockets * settings.hotplug_ratio
        if most * topology.vcpus_per_socket > VCPU_CEILING:
            most = max(VCPU_CEILING // topology.vcpus_per_socket, topology.sockets)
    return replace(spec, domain=replace(spec.domain, cpu=replace(cpu, max_sockets=most)))
