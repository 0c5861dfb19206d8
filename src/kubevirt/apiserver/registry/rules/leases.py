"""Leases, which somebody holds for a while, and revisions, which nobody changes."""

from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema.field_errors import FieldError, invalid, required
from kubevirt.apiserver.schema.plain import is_same

_OF_ELECTIONS: Final = ("strategy", "preferredHolder")


class LeaseRules(Rules):
    def __init__(self) -> None:
        super().__init__(is_created_by_update=True)

    def defaulted(self, object_: Object) -> Object:
        """Without what belongs to elections among servers, which Kubernetes 1.34 leaves off."""
        spec = object_.get("spec") or {}
        kept = {name: value for name, value in spec.items() if name not in _OF_ELECTIONS}
        return {**object_, "spec": kept} if len(kept) < len(spec) else object_

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_.get("spec") or {}))

    def _errors(self, spec: Object) -> Errors:
        seconds = spec.get("leaseDurationSeconds")
        if seconds is not None and seconds <= 0:
            yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
        transitions = spec.get("leaseTransitions")
        if transitions is not None:
            yield from checks.not_negative("spec.leaseTransitions", transitions)


class RevisionRules(Rules):
    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        found = super().errors_of_new(new, is_namespaced=is_namespaced)
        data = new.get("data")
        if data is None:
            found.append(required("data", "data is mandatory"))
        elif not isinstance(data, dict):
            found.append(required("data", "data must be a valid JSON object"))
        return found

    def errors(self, object_: Object) -> list[FieldError]:
        return list(checks.not_negative("revision", object_.get("revision", 0)))

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = self.errors(new)
        if not is_same(new.get("data"), old.get("data")):
            found.append(invalid("data", new.get("data"), "field is immutable"))
        return found
