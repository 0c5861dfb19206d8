"""What a container may ask for, and at most get."""

from collections.abc import Callable
from typing import Final

from kubevirt.apiserver.registry.rules.checks import Errors, named
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from kubevirt.base.errors import QuantityError
from kubevirt.base.quantity import Quantity

NameCheck = Callable[[str, str], Errors]

HUGE: Final = "hugepages-"
_NATIVE: Final = "kubernetes.io/"
_OF_CONTAINERS: Final = ("cpu", "memory", "ephemeral-storage")
_COUNTED_THINGS: Final = (
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
)
_STANDARD: Final = {
    *_OF_CONTAINERS,
    *(f"{kind}.{each}" for kind in ("requests", "limits") for each in _OF_CONTAINERS),
    *_COUNTED_THINGS,
    "requests.storage",
    "storage",
}
_OF_PODS: Final = ("cpu", HUGE, "memory")


def requirements(resources: Object, path: str, claims: set[str], name: NameCheck) -> Errors:
    """Of one who asks; `claims` are the names of the pod's resource claims."""
    limits = _quantities(resources.get("limits"))
    requests = _quantities(resources.get("requests"))
    for resource, quantity in limits.items():
        yield from _entry(f"{path}.limits[{resource}]", resource, quantity, name)
    for resource, quantity in requests.items():
        yield from _entry(f"{path}.requests[{resource}]", resource, quantity, name)
        yield from _beside_limit(path, resource, quantity, limits.get(resource))
    asked = {*limits, *requests}
    if any(map(is_huge, asked)) and not asked & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")
    yield from _claims(resources.get("claims") or [], f"{path}.claims", claims)


def _quantities(found: dict[str, str] | None) -> dict[str, Quantity]:
    return {name: Quantity.parse(text) for name, text in (found or {}).items()}


def _entry(field: str, resource: str, quantity: Quantity, name: NameCheck) -> Errors:
    yield from name(field, resource)
    yield from quantity_errors(field, resource, quantity)
    if is_huge(resource) and not _is_multiple(resource, quantity):
        words = f"{quantity} is not positive integer multiple of {resource}"
        yield invalid(field, str(quantity), words)


def quantity_errors(field: str, resource: str, quantity: Quantity) -> Errors:
    if quantity.sign < 0:
        yield invalid(field, str(quantity), "must be greater than or equal to 0")
    is_counted = resource in _COUNTED_THINGS or is_extended(resource)
    if is_counted and quantity.milli_value() % 1000:
        yield invalid(field, str(quantity), "must be an integer")


def _beside_limit(path: str, resource: str, quantity: Quantity, limit: Quantity | None) -> Errors:
    can_be_less = _is_native(resource) and not is_huge(resource)
    if limit is None:
        if not can_be_less:
            words = "Limit must be set for non overcommitable resources"
            yield required(f"{path}.limits", words)
    elif quantity != limit and not can_be_less:
        words = f"must be equal to {resource} limit of {limit}"
        yield invalid(f"{path}.requests", str(quantity), words)
    elif quantity > limit:
        words = f"must be less than or equal to {resource} limit of {limit}"
        yield invalid(f"{path}.requests", str(quantity), words)


def _claims(claims: list[Object], path: str, known: set[str]) -> Errors:
    seen: set[str] = set()
    for at, claim in enumerate(claims):
        field, name = f"{path}[{at}]", claim.get("name", "")
        if not name:
            yield required(field)
            continue
        if name in seen:
            yield duplicate(field, name)
        seen.add(name)
        if name not in known:
            listed = ": " + ", ".join(sorted(known)) if known else " which is empty"
            words = f"must be one of the names in pod.spec.resourceClaims{listed}"
            yield not_found(field, name, words)


# Names of resources


def of_container(field: str, name: str) -> Errors:
    yield from of_anything(field, name)
    if "/" not in name:
        if name not in _OF_CONTAINERS and not is_huge(name):
            yield invalid(field, name, "must be a standard resource for containers")
    elif not _is_native(name) and not is_extended(name):
        yield invalid(field, name, "doesn't follow extended resource name standard")


def of_pod(field: str, name: str) -> Errors:
    wrong = list(of_anything(field, name))
    yield from wrong
    if not wrong and name not in _OF_PODS and not is_huge(name):
        yield not_supported(field, name, _OF_PODS)


def of_anything(field: str, name: str) -> Errors:
    wrong = list(named(field, name, names.qualified))
    yield from wrong
    if not wrong and "/" not in name and name not in _STANDARD and not _is_quota_of_huge(name):
        yield invalid(field, name, "must be a standard resource type or fully qualified")


def is_huge(name: str) -> bool:
    return name.startswith(HUGE)


def _is_quota_of_huge(name: str) -> bool:
    return is_huge(name) or name.startswith(f"requests.{HUGE}")


def _is_native(name: str) -> bool:
    return "/" not in name or _NATIVE in name


def is_extended(name: str) -> bool:
    """One that a device plugin or an operator made up."""
    if _is_native(name) or name.startswith("requests."):
        return False
    return not names.qualified(f"requests.{name}")


def _is_multiple(name: str, quantity: Quantity) -> bool:
    try:
        size = Quantity.parse(name.removeprefix(HUGE))
    except QuantityError:
        return False
    if size.sign <= 0 or size.milli_value() % 1000:
        return False
    return quantity.value() % size.value() == 0
