"""CustomResourceDefinitions: what a server decides about one the moment it is written."""

from collections.abc import Iterator
from typing import Any, Final

from kubevirt.apiserver.kinds import custom
from kubevirt.apiserver.registry.rules import approval, checks, conversions, definition_versions
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import FieldError, invalid, required
from kubevirt.apiserver.schema.metadata import IMMUTABLE
from kubevirt.apiserver.schema.plain import is_same

CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
"""Held by the server until all objects of the kind are gone."""

_SCOPES: Final = ("Cluster", "Namespaced")
_NAMES: Final = ("plural", "singular", "kind", "listKind")
_MIXED: Final = ("kind", "listKind")
"""Names that may have capitals."""
_OF_THE_ESTABLISHED: Final = (("scope",), ("names", "kind"))
_OF_THE_NAME: Final = (("group",), ("names", "plural"))
"""Fields that never change; those above not once the kind is served."""
_NO_PRESERVING: Final = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"


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
        conversion = spec.get("conversion") or {"strategy": conversions.NONE}
        return {**object_, "spec": {**spec, "names": made, "conversion": conversion}}

    def prepared(self, object_: Object) -> Object:
        stored = [each["name"] for each in _versions(object_) if each.get("storage")]
        status = {
            "conditions": None,
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
        found = list(_wrong_group(spec.get("group", "")))
        found += checks.one_of("spec.scope", spec.get("scope", ""), _SCOPES, needed="")
        versions = _versions(object_)
        found += _wrong_versions(versions)
        found += definition_versions.errors(versions)
        found += _wrong_names(said)
        found += conversions.errors(spec.get("conversion") or {"strategy": conversions.NONE})
        if spec.get("preserveUnknownFields"):
            found.append(invalid("spec.preserveUnknownFields", value=True, detail=_NO_PRESERVING))
        return found

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        found = [*_wrong_name(new), *super().errors_of_new(new, is_namespaced=is_namespaced)]
        found += definition_versions.errors_of_schemas(_versions(new))
        return found + approval.errors(new)

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = []
        for path in (*(_OF_THE_ESTABLISHED if _is_established(old) else ()), *_OF_THE_NAME):
            before, after = _at(old, path), _at(new, path)
            if before != after:
                found.append(invalid(f"spec.{'.'.join(path)}", after, IMMUTABLE))
        found += self.errors(new)
        if not is_same(_versions(new), _versions(old)):
            found += definition_versions.errors_of_schemas(_versions(new))
        found += _lost_versions(new)
        return found + approval.errors(new, old)

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


def _wrong_name(object_: Object) -> Iterator[FieldError]:
    plural, group = _at(object_, ("names", "plural")) or "", _at(object_, ("group",)) or ""
    name = object_["metadata"].get("name", "")
    if name != f"{plural}.{group}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def _is_established(object_: Object) -> bool:
    conditions = (object_.get("status") or {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _wrong_group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif wrong := names.subdomain(group):
        yield invalid("spec.group", group, ",".join(wrong))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _wrong_names(said: Object) -> Iterator[FieldError]:
    for field in _NAMES:
        if not said.get(field):
            yield required(f"spec.names.{field}")
    for field in _NAMES:
        name = said.get(field, "")
        if name and (wrong := names.label_1035(name.lower() if field in _MIXED else name)):
            mixed = "may have mixed case, but should otherwise match: " if field in _MIXED else ""
            yield invalid(f"spec.names.{field}", name, mixed + ",".join(wrong))
    yield from _wrong_words(said, "shortNames")
    if said.get("kind") and said["kind"] == said.get("listKind"):
        words = "kind and listKind may not be the same"
        yield invalid("spec.names.listKind", said["listKind"], words)
    yield from _wrong_words(said, "categories")


def _wrong_words(said: Object, field: str) -> Iterator[FieldError]:
    for index, word in enumerate(said.get(field) or ()):
        if wrong := names.label_1035(word):
            yield invalid(f"spec.names.{field}[{index}]", word, ",".join(wrong))


def _wrong_versions(versions: list[Object]) -> Iterator[FieldError]:
    for index, version in enumerate(versions):
        if definition_versions.schema_of(version) is None:
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(versions):
        name = version.get("name", "")
        if wrong := names.label_1035(name):
            yield invalid(f"spec.versions[{index}].name", name, ",".join(wrong))
    if len({each.get("name") for each in versions}) < len(versions):
        yield invalid("spec.versions", versions, "must contain unique version names")
    if sum(1 for each in versions if each.get("storage")) != 1:
        words = "must have exactly one version marked as storage version"
        yield invalid("spec.versions", versions, words)


def _lost_versions(object_: Object) -> Iterator[FieldError]:
    """In which objects may still lie."""
    known = {each.get("name") for each in _versions(object_)}
    for index, name in enumerate(object_["status"].get("storedVersions") or ()):
        if name not in known:
            words = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in"
                f" spec.versions until a storage migration ensures no data remains persisted in {name}"
                f" and removes {name} from status.storedVersions"
            )
            yield invalid(f"status.storedVersions[{index}]", name, words)
