"""Roles and bindings: names with colons, rules that say something, subjects that can be somebody."""

from collections.abc import Iterator
from typing import Any, Final

from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import metadata, names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    Verbatim,
    invalid,
    not_supported,
    required,
)
from kubevirt.apiserver.schema.gotext import json

GROUP: Final = "rbac.authorization.k8s.io"
_PEOPLE: Final = ("User", "Group")


class _AccessRules(Rules):
    def __init__(self, *, is_of_cluster: bool) -> None:
        super().__init__(is_created_by_update=True)
        self._is_of_cluster = is_of_cluster

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        """`system:node` is a name here, and so is whatever else can stand in a path."""
        return metadata.errors_of_new(
            new["metadata"], is_namespaced=is_namespaced, name_rule=names.path_segment
        ) + self.errors(new)


class RoleRules(_AccessRules):
    def errors(self, object_: Object) -> list[FieldError]:
        rules = object_.get("rules") or ()
        found = [each for at, rule in enumerate(rules) for each in self._of_rule(rule, at)]
        gathers = object_.get("aggregationRule")
        if gathers is not None and not gathers.get("clusterRoleSelectors"):
            words = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            found.append(required("aggregationRule.clusterRoleSelectors", words))
        return found

    def _of_rule(self, rule: Object, at: int) -> Iterator[FieldError]:
        path = f"rules[{at}]"
        if not rule.get("verbs"):
            yield required(f"{path}.verbs", "verbs must contain at least one value")
        if urls := rule.get("nonResourceURLs"):
            field = f"{path}.nonResourceURLs"
            if not self._is_of_cluster:
                yield invalid(field, urls, "namespaced rules cannot apply to non-resource URLs")
            if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
                words = "rules cannot apply to both regular resources and non-resource URLs"
                yield invalid(field, urls, words)
            return
        if not rule.get("apiGroups"):
            words = "resource rules must supply at least one api group"
            yield required(f"{path}.apiGroups", words)
        if not rule.get("resources"):
            yield required(f"{path}.resources", "resource rules must supply at least one resource")


class BindingRules(_AccessRules):
    def defaulted(self, object_: Object) -> Object:
        """Roles, users and groups are of the only API group that has them."""
        found = {**object_, "roleRef": {"apiGroup": GROUP, **_said(object_.get("roleRef") or {})}}
        if subjects := object_.get("subjects"):
            found["subjects"] = [
                {"apiGroup": GROUP, **_said(each)} if each.get("kind") in _PEOPLE else each
                for each in subjects
            ]
        return found

    def errors(self, object_: Object) -> list[FieldError]:
        found = list(self._of_ref(object_.get("roleRef") or {}))
        for at, subject in enumerate(object_.get("subjects") or ()):
            found += self._of_subject(subject, f"subjects[{at}]")
        return found

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = self.errors(new)
        ref = new.get("roleRef") or {}
        if ref != (old.get("roleRef") or {}):
            # As Go has it: by the names of its own structure.
            names_of_go = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
            shown = {go: ref.get(name, "") for go, name in names_of_go.items()}
            found.append(invalid("roleRef", Verbatim(json(shown)), "cannot change roleRef"))
        return found

    def _of_ref(self, ref: dict[str, Any]) -> Iterator[FieldError]:
        group, kind, name = (ref.get(each, "") for each in ("apiGroup", "kind", "name"))
        if group != GROUP:
            yield not_supported("roleRef.apiGroup", group, [GROUP])
        kinds = ["ClusterRole"] if self._is_of_cluster else ["Role", "ClusterRole"]
        if kind not in kinds:
            yield not_supported("roleRef.kind", kind, kinds)
        if not name:
            yield required("roleRef.name")
        else:
            for words in names.path_segment(name):
                yield invalid("roleRef.name", name, words)

    def _of_subject(self, subject: dict[str, Any], path: str) -> Iterator[FieldError]:
        kind, name, group = (subject.get(each, "") for each in ("kind", "name", "apiGroup"))
        if not name:
            yield required(f"{path}.name")
        if kind in _PEOPLE:
            if group != GROUP:
                yield not_supported(f"{path}.apiGroup", group, [GROUP])
        elif kind == "ServiceAccount":
            for words in names.subdomain(name) if name else ():
                yield invalid(f"{path}.name", name, words)
            if group:
                yield not_supported(f"{path}.apiGroup", group, [""])
            if self._is_of_cluster and not subject.get("namespace"):
                yield required(f"{path}.namespace")
        else:
            yield not_supported(f"{path}.kind", kind, ["ServiceAccount", "User", "Group"])


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what was said to be empty, which is to be filled in."""
    return {name: value for name, value in fields.items() if value or name != "apiGroup"}
