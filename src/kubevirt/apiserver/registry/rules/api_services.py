"""API services: who serves a version of a group, under a name that says which."""

from typing import Any, Final

from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import gotext, metadata, names
from kubevirt.apiserver.schema.field_errors import FieldError, invalid, not_supported, required
from kubevirt.apiserver.schema.names import NameRule

HTTPS_PORT: Final = 443
GROUP_PRIORITY_LIMIT: Final = 20000
VERSION_PRIORITY_LIMIT: Final = 1000
LOCAL: Final = {
    "type": "Available",
    "status": "True",
    "reason": "Local",
    "message": "Local APIServices are always available",
}
_STATUSES: Final = ("True", "False", "Unknown")


class ApiServiceRules(Rules):
    needs_version_to_update = True

    def defaulted(self, object_: Object) -> Object:
        spec = object_.get("spec") or {}
        service = spec.get("service")
        if service is None or service.get("port") is not None:
            return object_
        return {**object_, "spec": {**spec, "service": {**service, "port": HTTPS_PORT}}}

    def prepared(self, object_: Object) -> Object:
        """What is served here is there from the beginning."""
        if (object_.get("spec") or {}).get("service") is not None:
            return {**object_, "status": {}}
        condition = {**LOCAL, "lastTransitionTime": object_["metadata"]["creationTimestamp"]}
        return {**object_, "status": {"conditions": [condition]}}

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        return metadata.errors_of_new(
            new["metadata"], is_namespaced=is_namespaced, name_rule=_name_rule(new)
        ) + self.errors(new)

    def errors(self, object_: Object) -> list[FieldError]:
        spec = object_.get("spec") or {}
        return _errors_of_version(spec) + _errors_of_service(spec)

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        name = new["metadata"]["name"]
        wrong = [invalid("metadata.name", name, words) for words in _name_rule(new)(name)]
        return wrong + self.errors(new)

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        conditions = (new.get("status") or {}).get("conditions") or ()
        return [
            not_supported(f"status.conditions[{i}].status", each.get("status", ""), _STATUSES)
            for i, each in enumerate(conditions)
            if each.get("status") not in _STATUSES
        ]


def _name_rule(object_: Object) -> NameRule:
    spec = object_.get("spec") or {}
    wanted = f"{spec.get('version', '')}.{spec.get('group', '')}"

    def rule(name: str) -> list[str]:
        if wrong := names.path_segment(name):
            return wrong
        if name == wanted:
            return []
        return [f'must be `spec.version+"."+spec.group`: {gotext.quoted(wanted)}']

    return rule


def _errors_of_version(spec: dict[str, Any]) -> list[FieldError]:
    group, version = spec.get("group", ""), spec.get("version", "")
    found = []
    if not group and version != "v1":
        words = "only v1 may have an empty group and it better be legacy kube"
        found.append(required("spec.group", words))
    if group:
        found += [invalid("spec.group", group, words) for words in names.subdomain(group)]
    found += [invalid("spec.version", version, words) for words in names.label_1035(version)]
    for field, limit in (
        ("groupPriorityMinimum", GROUP_PRIORITY_LIMIT),
        ("versionPriority", VERSION_PRIORITY_LIMIT),
    ):
        value = spec.get(field) or 0
        if not 0 < value <= limit:
            words = f"must be positive and less than {limit}"
            found.append(invalid(f"spec.{field}", value, words))
    return found


def _errors_of_service(spec: dict[str, Any]) -> list[FieldError]:
    service, bundle = spec.get("service"), spec.get("caBundle") or ""
    is_insecure = bool(spec.get("insecureSkipTLSVerify"))
    found = []
    if service is None:
        if bundle:
            size = f"{len(bundle) * 3 // 4 - bundle.count('=')} bytes"
            words = "local APIServices may not have a caBundle"
            found.append(invalid("spec.caBundle", size, words))
        if is_insecure:
            words = "local APIServices may not have insecureSkipTLSVerify"
            found.append(invalid("spec.insecureSkipTLSVerify", value=True, detail=words))
        return found
    found += [required(f"spec.service.{f}") for f in ("namespace", "name") if not service.get(f)]
    port = service.get("port") or 0
    if not 0 < port < 1 << 16:
        words = "port is not valid: must be between 1 and 65535, inclusive"
        found.append(invalid("spec.service.port", port, words))
    if is_insecure and bundle:
        words = "may not be true if caBundle is present"
        found.append(invalid("spec.insecureSkipTLSVerify", value=True, detail=words))
    return found
