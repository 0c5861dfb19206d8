"""Guest memory, and how far it can grow."""

from typing import Final

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.memory import Memory
from kubevirt.base.quantity import Format, Quantity
from kubevirt.virt.architecture import Architecture
from kubevirt.virt.defaults.settings import Settings
from kubevirt.virt.memory import guest_quantity

Spec = VirtualMachineInstanceSpec

ALIGNMENT: Final = 2 * 1024**2
"""Bytes in which virtio-mem plugs memory."""
GIGANTIC_ALIGNMENT: Final = 1024**3
LEAST_BYTES: Final = 1024**3
"""A guest smaller than this is not worth the bookkeeping."""


def with_guest_memory(spec: Spec) -> Spec:
    memory = spec.domain.memory or Memory()
    if memory.guest is None and (quantity := guest_quantity(spec.domain)):
        memory = replace(memory, guest=str(quantity))
    return replace(spec, domain=replace(spec.domain, memory=memory))


def with_max_guest(spec: Spec, settings: Settings, architecture: Architecture) -> Spec:
    memory = spec.domain.memory
    if memory is None or memory.max_guest is not None or not settings.grows_live:
        return spec
    guest = guest_quantity(spec.domain)
    if guest is None:
        return spec
    most = settings.max_guest or Quantity.of(
        guest.value() * settings.hotplug_ratio, Format.BINARY_SI
    )
    if why_memory_cannot_grow(spec, guest, most, architecture):
        return spec
    memory = replace(memory, max_guest=str(most))
    return replace(spec, domain=replace(spec.domain, memory=memory))


def why_memory_cannot_grow(
    spec: Spec, guest: Quantity, most: Quantity, architecture: Architecture
) -> str | None:
    """The first obstacle, in upstream's words; None if there is none."""
    domain = spec.domain
    memory, cpu = domain.memory, domain.cpu
    is_gigantic = bool(memory and memory.hugepages and memory.hugepages.page_size == "1Gi")
    alignment = GIGANTIC_ALIGNMENT if is_gigantic else ALIGNMENT
    aligned = str(Quantity.of(alignment, Format.BINARY_SI))
    obstacles = (
        (
            cpu is not None and cpu.realtime is not None,
            "Memory hotplug is not compatible with realtime VMs",
        ),
        (
            cpu is not None
            and cpu.numa is not None
            and cpu.numa.guest_mapping_passthrough is not None,
            "Memory hotplug is not compatible with guest mapping passthrough",
        ),
        (
            domain.launch_security is not None,
            "Memory hotplug is not compatible with encrypted VMs",
        ),
        (most < guest, "Guest memory is greater than the configured maxGuest memory"),
        (guest.value() % alignment != 0, f"Guest memory must be {aligned} aligned"),
        (most.value() % alignment != 0, f"MaxGuest must be {aligned} aligned"),
        (
            not architecture.memory_hotplug,
            "Memory hotplug is only available for x86_64 VMs",
        ),
        (
            guest.value() < LEAST_BYTES,
            "Memory hotplug is only available for VMs with at least 1Gi of guest memory",
        ),
    )
    return next((sentence for stands, sentence in obstacles if stands), None)
