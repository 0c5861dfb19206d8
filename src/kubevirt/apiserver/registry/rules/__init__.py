"""What kinds demand and decide beyond their schemas, a file each for those that have much to say."""

from typing import Final

from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry.rules.access import GROUP as RBAC
from kubevirt.apiserver.registry.rules.access import BindingRules, RoleRules
from kubevirt.apiserver.registry.rules.config import ConfigMapRules, SecretRules
from kubevirt.apiserver.registry.rules.definitions import DefinitionRules
from kubevirt.apiserver.registry.rules.namespaces import NamespaceRules
from kubevirt.apiserver.registry.rules.pods import PodRules
from kubevirt.apiserver.registry.rules.rules import CustomRules, Rules
from kubevirt.apiserver.registry.rules.services import ApiServiceRules, ServiceRules

_CREATED_BY_UPDATE: Final = {
    ("", "endpoints"),
    ("", "events"),
    ("coordination.k8s.io", "leases"),
    ("events.k8s.io", "events"),
}
_RETURNED_WHEN_DELETED: Final = {
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "serviceaccounts"),
}
_WITH_GENERATION: Final = {
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("policy", "poddisruptionbudgets"),
}
_PHASES: Final = {("", "persistentvolumeclaims"): "Pending", ("", "persistentvolumes"): "Pending"}


def rules_of(kind: Kind) -> Rules:
    if kind.is_custom:
        return CustomRules()
    name = (kind.group, kind.names.plural)
    match name:
        case ("", "configmaps"):
            return ConfigMapRules()
        case ("", "secrets"):
            return SecretRules()
        case ("", "namespaces"):
            return NamespaceRules()
        case ("", "pods"):
            return PodRules()
        case ("", "services"):
            return ServiceRules()
        case ("apiregistration.k8s.io", "apiservices"):
            return ApiServiceRules()
        case ("apiextensions.k8s.io", "customresourcedefinitions"):
            return DefinitionRules()
    if kind.group == RBAC:
        rules = BindingRules if kind.names.plural.endswith("bindings") else RoleRules
        return rules(is_of_cluster=not kind.namespaced)
    return Rules(
        is_created_by_update=name in _CREATED_BY_UPDATE,
        is_returned_when_deleted=name in _RETURNED_WHEN_DELETED,
        has_generation=name in _WITH_GENERATION,
        keeps_new_status=name == ("", "nodes"),
        first_phase=_PHASES.get(name, ""),
    )
