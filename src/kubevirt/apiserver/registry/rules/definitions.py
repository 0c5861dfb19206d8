"""CustomResourceDefinitions: what a server decides about one the moment it is written."""

from typing import Any, Final

from kubevirt.apiserver.kinds import custom
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import authoring, names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)
from kubevirt.apiserver.schema.metadata import IMMUTABLE
from kubevirt.apiserver.schema.plain import is_same

CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
"""Held by the server until all objects of the kind are gone."""


class DefinitionRules(Rules):
    def __init__(self) -> None:
        super().__init__(has_generation=True)

    def defaulted(self, object_: Object) -> Object:
        """With the names and the strategy that its author may leave out."""
        spec = object_.get("spec")
        if not isinstance(spec, dict) or not isinstance(spec.get("names"), dict):
            return object_
        said = spec["names"]
        kind = said.get("kind", "")
        made = {"singular": kind.lower(), "listKind": f"{kind}List", **said} if kind else said
        conversion = spec.get("conversion") or {"strategy": "None"}
        return {**object_, "spec": {**spec, "names": made, "conversion": conversion}}

    def prepared(self, object_: Object) -> Object:
        stored = [each["name"] for each in _versions(object_) if each.get("storage")]
        status = {
            "conditions": [],
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": stored,
        }
        return {**object_, "status": status}

    def changed(self, new: Object, old: Object) -> Object:
        status = old.get("status", {})
        stored = list(status.get("storedVersions") or [])
        stored += [
            each["name"]
            for each in _versions(new)
            if each.get("storage") and each["name"] not in stored
        ]
        return {**new, "status": {**status, "storedVersions": stored}}

    def errors(self, object_: Object) -> list[FieldError]:
        spec = object_.get("spec") or {}
        said = spec.get("names") or {}
        found = []
        plural, group = said.get("plural", ""), spec.get("group", "")
        if object_["metadata"].get("name") != f"{plural}.{group}":
            words = 'must be spec.names.plural+"."+spec.group'
            found.append(invalid("metadata.name", object_["metadata"].get("name", ""), words))
        if not group:
            found.append(required("spec.group"))
        elif wrong := names.subdomain(group):
            found += [invalid("spec.group", group, words) for words in wrong]
        elif "." not in group:
            words = "should be a domain with at least one dot"
            found.append(invalid("spec.group", group, words))
        if spec.get("scope") not in ("Namespaced", "Cluster"):
            scope = spec.get("scope", "")
            supported = ["Cluster", "Namespaced"]
            found.append(
                not_supported("spec.scope", scope, supported) if scope else required("spec.scope")
            )
        found += _wrong_names(said)
        return found + _wrong_versions(_versions(object_))

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        found = super().errors_of_new(new, is_namespaced=is_namespaced)
        return found + _wrong_schemas(_versions(new))

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = []
        for path in (("group",), ("scope",), ("names", "kind"), ("names", "plural")):
            before, after = _at(old, path), _at(new, path)
            if before != after:
                found.append(invalid(f"spec.{'.'.join(path)}", after, IMMUTABLE))
        found += self.errors(new)
        if not is_same(_versions(new), _versions(old)):
            found += _wrong_schemas(_versions(new))
        return found

    def held_by_server(self, object_: Object) -> tuple[str, ...]:
        return () if object_["metadata"].get("deletionTimestamp") else (CLEANUP,)

    def marked(self, object_: Object) -> Object:
        return custom.terminating(object_, object_["metadata"]["deletionTimestamp"])


def _versions(object_: Object) -> list[Object]:
    return list((object_.get("spec") or {}).get("versions") or [])


def _at(object_: Object, path: tuple[str, ...]) -> Any:
    found: Any = object_.get("spec") or {}
    for step in path:
        found = (found or {}).get(step)
    return found


def _wrong_names(said: Object) -> list[FieldError]:
    found = []
    for field in ("plural", "singular", "kind", "listKind"):
        name = said.get(field, "")
        if not name:
            found.append(required(f"spec.names.{field}"))
        elif wrong := names.label_1035(name.lower()):
            mixed = "may have mixed case, but should otherwise match: "
            prefix = mixed if field in ("kind", "listKind") else ""
            found.append(invalid(f"spec.names.{field}", name, prefix + ",".join(wrong)))
    if said.get("kind") and said.get("kind") == said.get("listKind"):
        words = "kind and listKind may not be the same"
        found.append(invalid("spec.names.listKind", said["listKind"], words))
    return found


def _wrong_versions(versions: list[Object]) -> list[FieldError]:
    found = []
    seen = set()
    for index, version in enumerate(versions):
        at = f"spec.versions[{index}]"
        name = version.get("name", "")
        found += [invalid(f"{at}.name", name, words) for words in names.label_1035(name)]
        if name in seen:
            words = "must contain unique version names"
            found.append(invalid("spec.versions", [each.get("name") for each in versions], words))
        seen.add(name)
        if _schema(version) is None:
            found.append(required(f"{at}.schema.openAPIV3Schema"))
    if sum(1 for each in versions if each.get("storage")) != 1:
        words = "must have exactly one version marked as storage version"
        found.append(invalid("spec.versions", versions, words))
    return found


def _schema(version: Object) -> Object | None:
    found: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return found


def _wrong_schemas(versions: list[Object]) -> list[FieldError]:
    """A schema that all versions share is spoken of as if it stood at the top, where it once did."""
    schemas = [(index, _schema(each)) for index, each in enumerate(versions)]
    known = [(index, schema) for index, schema in schemas if schema is not None]
    if not known:
        return []
    if all(is_same(schema, known[0][1]) for _, schema in known):
        return authoring.errors(known[0][1], "spec.validation.openAPIV3Schema")
    return [
        error
        for index, schema in known
        for error in authoring.errors(schema, f"spec.versions[{index}].schema.openAPIV3Schema")
    ]
