"""Priorities of pods, and budgets of how many may be missing."""

from typing import Any, Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import label_selectors
from kubevirt.apiserver.schema.field_errors import FieldError, Verbatim, forbidden, invalid
from kubevirt.apiserver.schema.gotext import json

_SYSTEM: Final = "system-"
_SYSTEMS_OWN: Final = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
_HIGHEST: Final = 1_000_000_000
_POLICIES: Final = ("PreemptLowerPriority", "Never")
_NOTHING: Final[Object] = {
    "currentHealthy": 0,
    "desiredHealthy": 0,
    "disruptionsAllowed": 0,
    "expectedPods": 0,
}


class PriorityClassRules(Rules):
    def __init__(self) -> None:
        super().__init__(has_generation=True)

    def defaulted(self, object_: Object) -> Object:
        return {"preemptionPolicy": "PreemptLowerPriority", **object_}

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_))

    def _errors(self, object_: Object) -> Errors:
        name, value = object_["metadata"].get("name", ""), object_.get("value", 0)
        if name.startswith(_SYSTEM):
            if why := _not_known(name, value, bool(object_.get("globalDefault"))):
                words = f"priority class names with '{_SYSTEM}' prefix are reserved for system use only."
                yield forbidden("metadata.name", f"{words} error: {why}")
        elif value > _HIGHEST:
            words = f"maximum allowed value of a user defined priority is {_HIGHEST}"
            yield forbidden("value", words)
        policy = object_.get("preemptionPolicy", "")
        yield from checks.one_of("preemptionPolicy", policy, _POLICIES, needed="")

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = []
        if new.get("value", 0) != old.get("value", 0):
            found.append(forbidden("value", "may not be changed in an update."))
        policy = new.get("preemptionPolicy")
        if policy != old.get("preemptionPolicy"):
            found.append(invalid("preemptionPolicy", policy, "field is immutable"))
        return found


def _not_known(name: str, value: int, is_default: bool) -> str:  # noqa: FBT001
    if name not in _SYSTEMS_OWN:
        return f"{name} is not a known system priority class"
    known = _SYSTEMS_OWN[name]
    if value != known:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


class BudgetRules(Rules):
    def __init__(self) -> None:
        super().__init__(has_generation=True, first_status=_NOTHING)

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_.get("spec") or {}))

    def _errors(self, spec: Object) -> Errors:
        if "minAvailable" in spec and "maxUnavailable" in spec:
            words = "minAvailable and maxUnavailable cannot be both set"
            yield invalid("spec", Verbatim(_as_go(spec)), words)
        for name in ("minAvailable", "maxUnavailable"):
            if name in spec:
                yield from _share(f"spec.{name}", spec[name])
        yield from label_selectors.errors(spec.get("selector") or {}, "spec.selector")
        policy = spec.get("unhealthyPodEvictionPolicy")
        if policy is not None:
            known = ("AlwaysAllow", "IfHealthyBudget")
            yield from checks.one_of("spec.unhealthyPodEvictionPolicy", policy, known)


def _share(field: str, value: Any) -> Errors:
    """A number, or a percentage of a hundred at most."""
    if not isinstance(value, str):
        yield from checks.not_negative(field, value)
        return
    digits = value.removesuffix("%")
    if not value.endswith("%") or not digits.isdigit():
        words = (
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
            "'93%', regex used for validation is '[0-9]+%')"
        )
        yield invalid(field, value, words)
    elif int(digits) > 100:
        yield invalid(field, value, "must not be greater than 100%")


def _as_go(spec: Object) -> str:
    """As the server's own type is printed, which has no names for JSON."""
    shown = (
        ("MinAvailable", spec.get("minAvailable")),
        ("Selector", spec.get("selector")),
        ("MaxUnavailable", spec.get("maxUnavailable")),
        ("UnhealthyPodEvictionPolicy", spec.get("unhealthyPodEvictionPolicy")),
    )
    return "{" + ",".join(f'"{name}":{json(value)}' for name, value in shown) + "}"
