"""How much memory a guest has, in bytes."""

from typing import Final

from kubevirt.api.domain import DomainSpec
from kubevirt.base.quantity import Quantity
from kubevirt.virt.errors import SpecError

NANOS: Final = 10**9
MAX_BYTES: Final = 2**63 - 1


def guest_quantity(domain: DomainSpec) -> Quantity | None:
    """What the guest is to see: memory.guest, else the request, the limit, one huge page."""
    memory, resources = domain.memory, domain.resources
    candidates = (
        memory.guest if memory else None,
        resources.requests.get("memory"),
        resources.limits.get("memory"),
        memory.hugepages.page_size if memory and memory.hugepages else None,
    )
    for candidate in candidates:
        if candidate and (quantity := Quantity.from_json(candidate)):
            return quantity
    return None


def guest_bytes(domain: DomainSpec) -> int:
    quantity = guest_quantity(domain)
    if quantity is None:
        raise SpecError(
            "no memory requested, at least one of 'spec.domain.memory.guest', "
            "'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' "
            "must be set"
        )
    return whole_bytes(quantity, "memory.guest")


def max_guest_bytes(domain: DomainSpec) -> int | None:
    """How far the memory can grow while the guest runs; None if it cannot."""
    if not domain.memory or not domain.memory.max_guest:
        return None
    most = whole_bytes(Quantity.from_json(domain.memory.max_guest), "memory.maxGuest")
    now = guest_bytes(domain)
    if most < now:
        raise SpecError("Guest memory is greater than the configured maxGuest memory")
    return most if most > now else None


def whole_bytes(quantity: Quantity, field: str) -> int:
    """Rounded down: a guest never gets more than the pod has asked for."""
    number = quantity.nanos // NANOS
    if not 0 < number <= MAX_BYTES:
        raise SpecError(f"{field} is '{quantity}', which is no size; it must be 1 byte or more")
    return number
