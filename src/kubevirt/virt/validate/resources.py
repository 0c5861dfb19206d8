"""Memory and CPU time that the pod asks for."""

from collections.abc import Mapping
from typing import Final

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.base.quantity import Quantity
from kubevirt.virt.validate.amounts import amount, unreadable
from kubevirt.virt.validate.causes import Causes, invalid, plain
from kubevirt.virt.validate.rules import Rules

LEAST_MEMORY: Final = Quantity.parse("1M")


def resource_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    resources = spec.domain.resources
    here = f"{field}.domain.resources"
    yield from _amounts(resources.requests, f"{here}.requests")
    yield from _amounts(resources.limits, f"{here}.limits")
    requests_at, limits_at = f"{here}.requests.memory", f"{here}.limits.memory"
    request = amount(resources.requests.get("memory"))
    if request is not None and request.sign > 0 and request < LEAST_MEMORY:
        yield invalid(
            requests_at, f"{requests_at} '{request}': must be greater than or equal to 1M."
        )
    for name in ("memory", "cpu"):
        wanted, most = amount(resources.requests.get(name)), amount(resources.limits.get(name))
        if wanted is not None and most is not None and most and wanted > most:
            yield invalid(
                f"{here}.requests.{name}",
                f"{here}.requests.{name} '{wanted}' is greater than {here}.limits.{name} '{most}'",
            )
    limit = amount(resources.limits.get("memory"))
    if resources.overcommit_guest_overhead and limit is not None:
        yield invalid(
            limits_at,
            f"{here}.overcommitGuestOverhead is only allowed without {limits_at}; remove one of them",
        )


def _amounts(entries: Mapping[str, str | int], here: str) -> Causes:
    for name, value in entries.items():
        at = f"{here}.{plain(name)}"
        yield from unreadable(at, value)
        number = amount(value)
        if number is not None and number.sign < 0:
            yield invalid(at, f"{at} '{number}': must be greater than or equal to 0.")
