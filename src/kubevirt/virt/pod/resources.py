"""CPU, memory and devices that the launcher's container asks for."""

from collections.abc import Mapping
from typing import Final

from kubevirt.api.core.container import ResourceRequirements
from kubevirt.base.quantity import Format, Quantity
from kubevirt.virt.errors import SpecError, shown
from kubevirt.virt.pod import devices
from kubevirt.virt.pod.launch import Launch

Quantities = Mapping[str, int | str]

CPU: Final = "cpu"
MEMORY: Final = "memory"
HUGE_PAGES: Final = "hugepages-"


def resources(launch: Launch, overhead_bytes: int) -> ResourceRequirements:
    wanted = launch.domain.resources
    memory = _memory(launch, overhead_bytes)
    cpu = _dedicated_cpus(launch) if launch.is_dedicated else _shared_cpus(launch)
    asked = devices.requests(launch)
    return ResourceRequirements(
        requests={**wanted.requests, **cpu.requests, **memory.requests},
        limits={**wanted.limits, **cpu.limits, **memory.limits, **asked},
    )


def _shared_cpus(launch: Launch) -> ResourceRequirements:
    """A share of a CPU for each vCPU, unless the instance names its own."""
    wanted = launch.domain.resources
    if wanted.requests.get(CPU) or wanted.limits.get(CPU):
        request = wanted.requests.get(CPU) or wanted.limits[CPU]
        return ResourceRequirements(requests={CPU: request})
    thousandths = -(-1000 * launch.topology.vcpus // launch.config.cpu_allocation_ratio)
    return ResourceRequirements(requests={CPU: str(Quantity.of_milli(thousandths))})


def _dedicated_cpus(launch: Launch) -> ResourceRequirements:
    """Whole CPUs, as many as are promised: only then does a kubelet give them to nobody else."""
    cpu = launch.domain.cpu
    count = launch.topology.vcpus + bool(cpu and cpu.isolate_emulator_thread)
    return ResourceRequirements(requests={CPU: str(count)}, limits={CPU: str(count)})


def _memory(launch: Launch, overhead_bytes: int) -> ResourceRequirements:
    if launch.domain.memory and launch.domain.memory.hugepages:
        return _huge_pages(launch, overhead_bytes)
    wanted = launch.domain.resources
    limit = _size(wanted.limits.get(MEMORY))
    request = _size(wanted.requests.get(MEMORY)) or limit or _overcommitted(launch)
    overhead = Quantity.of(overhead_bytes, Format.BINARY_SI)
    limits = {MEMORY: str(limit + overhead)} if limit else {}
    if launch.is_dedicated:
        # Requests and limits must be equal for CPUs of one's own.
        return ResourceRequirements(
            requests={MEMORY: str(request + overhead)}, limits={MEMORY: str(request + overhead)}
        )
    if not wanted.overcommit_guest_overhead:
        request += overhead
    return ResourceRequirements(requests={MEMORY: str(request)}, limits=limits)


def _huge_pages(launch: Launch, overhead_bytes: int) -> ResourceRequirements:
    """The guest lies in huge pages; ordinary memory is for all the rest."""
    hugepages = launch.domain.memory and launch.domain.memory.hugepages
    size = Quantity.from_json((hugepages and hugepages.page_size) or 0)
    guest = Quantity.of(launch.guest_bytes, Format.BINARY_SI)
    if size.nanos <= 0 or guest.nanos % size.nanos:
        raise SpecError(
            f"the guest's memory {shown(guest)} is no multiple of its huge pages' size "
            f"{shown(size)}"
        )
    pages = {f"{HUGE_PAGES}{size}": str(guest)}
    rest = {MEMORY: str(Quantity.of(overhead_bytes, Format.BINARY_SI))}
    has_limit = launch.is_dedicated or MEMORY in launch.domain.resources.limits
    return ResourceRequirements(
        requests={**pages, **rest}, limits={**pages, **(rest if has_limit else {})}
    )


def _overcommitted(launch: Launch) -> Quantity:
    share = launch.guest_bytes * 100 // launch.config.memory_overcommit
    return Quantity.of(share, Format.BINARY_SI)


def _size(value: int | str | None) -> Quantity | None:
    quantity = Quantity.from_json(value) if value else None
    if quantity is not None and quantity.sign < 0:
        raise SpecError(f"a memory size of {shown(quantity)} is negative")
    return quantity or None
