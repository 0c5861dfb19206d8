"""The quality of service that a pod is promised, from what it asks for."""

from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.base.quantity import Quantity

_COUNTED: Final = ("cpu", "memory")


def qos_class(spec: Object) -> str:
    """Guaranteed if what is asked for is the most in every container, init ones and sidecars too;
    resources of the whole pod count instead of its containers'.
    """
    whole = spec.get("resources")
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    asked = [whole] if whole is not None else [each.get("resources") or {} for each in containers]
    requests, limits = _sum(asked, "requests"), _sum(asked, "limits")
    if not requests and not limits:
        return "BestEffort"
    bounded = [each for each in asked if whole is None or each.get("limits")]
    has_all = all(set(_counted(each, "limits")) == set(_COUNTED) for each in bounded)
    return "Guaranteed" if has_all and requests == limits else "Burstable"


def _sum(asked: list[Object], name: str) -> dict[str, Quantity]:
    found: dict[str, Quantity] = {}
    for each in asked:
        for resource, quantity in _counted(each, name).items():
            found[resource] = found[resource] + quantity if resource in found else quantity
    return found


def _counted(resources: Object, name: str) -> dict[str, Quantity]:
    said = resources.get(name) or {}
    found = {each: Quantity.parse(said[each]) for each in _COUNTED if each in said}
    return {each: quantity for each, quantity in found.items() if quantity.sign > 0}
