"""The guest's memory."""

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.base.errors import UserError
from kubevirt.base.quantity import Quantity
from kubevirt.virt.architecture import ARCHITECTURES
from kubevirt.virt.defaults.memory import why_memory_cannot_grow
from kubevirt.virt.memory import guest_quantity, whole_bytes
from kubevirt.virt.validate.amounts import amount, unreadable
from kubevirt.virt.validate.causes import Causes, invalid, plain, required
from kubevirt.virt.validate.rules import Rules

Spec = VirtualMachineInstanceSpec

NONE_REQUESTED = (
    "no memory requested, at least one of 'spec.domain.memory.guest', "
    "'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' must be set"
)


def memory_causes(spec: Spec, field: str, rules: Rules) -> Causes:
    memory = spec.domain.memory
    here = f"{field}.domain.memory"
    bad = False
    if memory:
        for name, value in (("guest", memory.guest), ("maxGuest", memory.max_guest)):
            for cause in unreadable(f"{here}.{name}", value):
                bad = True
                yield cause
    for cause in _page_size(spec, field):
        bad = True
        yield cause
    guest = _guest(spec)
    if guest is None:
        if not bad and not _unreadable_resources(spec):
            yield required(f"{field}.domain.resources.requests.memory", NONE_REQUESTED)
        return
    try:
        whole_bytes(guest, f"{here}.guest")
    except UserError as error:
        yield invalid(f"{here}.guest", str(error))
        return
    limit = amount(spec.domain.resources.limits.get("memory"))
    if memory and memory.guest is not None and limit and guest > limit:
        yield invalid(
            f"{here}.guest",
            f"{here}.guest '{guest}' must be equal to or less than the memory limit "
            f"{field}.domain.resources.limits.memory '{limit}'",
        )
    yield from _hugepages(spec, field, guest)
    yield from _growth(spec, field, guest, rules)


def _guest(spec: Spec) -> Quantity | None:
    try:
        return guest_quantity(spec.domain)
    except UserError:
        return None


def _unreadable_resources(spec: Spec) -> bool:
    """Whether the resources, which have causes of their own, are why the size is not known."""
    resources = spec.domain.resources
    values = (resources.requests.get("memory"), resources.limits.get("memory"))
    return any(value is not None and amount(value) is None for value in values)


def _page_size(spec: Spec, field: str) -> Causes:
    memory = spec.domain.memory
    if memory is None or memory.hugepages is None:
        return
    text = memory.hugepages.page_size or ""
    page = amount(text)
    if page is None or page.sign <= 0 or page.value() != page.as_decimal():
        # Upstream names a field here that has moved since; clients know it by this name.
        at = f"{field}.domain.hugepages.size"
        yield invalid(
            at,
            f"{at} '{plain(text)}': quantities must match the regular expression "
            f"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        )


def _hugepages(spec: Spec, field: str, guest: Quantity) -> Causes:
    """Of a page size that is one: `_page_size` speaks of the others."""
    memory = spec.domain.memory
    text = memory.hugepages.page_size if memory and memory.hugepages else None
    page = amount(text)
    if page is None or page.sign <= 0:
        return
    at = f"{field}.domain.resources.requests.memory"
    size = f"{field}.domain.hugepages.size '{plain(text)}'"
    if guest < page:
        yield invalid(at, f"{at} '{guest}' must be equal to or larger than page size {size}")
    elif guest.value() % page.value():
        yield invalid(at, f"{at} '{guest}' is not a multiple of the page size {size}")


def _growth(spec: Spec, field: str, guest: Quantity, rules: Rules) -> Causes:
    """A ceiling that the user named must be one that the guest can reach."""
    memory = spec.domain.memory
    most = amount(memory.max_guest) if memory else None
    architecture = ARCHITECTURES.get(spec.architecture or rules.settings.architecture)
    if most is None or architecture is None:
        return
    if obstacle := why_memory_cannot_grow(spec, guest, most, architecture):
        yield invalid(f"{field}.domain.memory.maxGuest", obstacle)
