"""What kinds demand and decide beyond their schemas, a file each for those that have much to say."""

from collections.abc import Callable
from functools import partial
from typing import Final

from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry.rules.access import GROUP as RBAC
from kubevirt.apiserver.registry.rules.access import BindingRules, RoleRules
from kubevirt.apiserver.registry.rules.api_services import ApiServiceRules
from kubevirt.apiserver.registry.rules.config import ConfigMapRules, SecretRules
from kubevirt.apiserver.registry.rules.definitions import DefinitionRules
from kubevirt.apiserver.registry.rules.endpoints import EndpointSliceRules, EndpointsRules
from kubevirt.apiserver.registry.rules.events import EventRules
from kubevirt.apiserver.registry.rules.leases import LeaseRules, RevisionRules
from kubevirt.apiserver.registry.rules.namespaces import NamespaceRules
from kubevirt.apiserver.registry.rules.nodes import NodeRules
from kubevirt.apiserver.registry.rules.pods import PodRules
from kubevirt.apiserver.registry.rules.rules import CustomRules, Rules
from kubevirt.apiserver.registry.rules.scheduling import BudgetRules, PriorityClassRules
from kubevirt.apiserver.registry.rules.services import ServiceRules
from kubevirt.apiserver.registry.rules.storage import ClaimRules, StorageClassRules, VolumeRules
from kubevirt.apiserver.registry.rules.webhooks import WebhookRules

_ADMISSION: Final = "admissionregistration.k8s.io"
_RULES: Final[dict[tuple[str, str], Callable[[], Rules]]] = {
    ("", "configmaps"): ConfigMapRules,
    ("", "endpoints"): EndpointsRules,
    ("", "events"): partial(EventRules, is_newer=False),
    ("", "namespaces"): NamespaceRules,
    ("", "nodes"): NodeRules,
    ("", "persistentvolumeclaims"): ClaimRules,
    ("", "persistentvolumes"): VolumeRules,
    ("", "pods"): PodRules,
    ("", "secrets"): SecretRules,
    ("", "serviceaccounts"): partial(Rules, is_returned_when_deleted=True),
    ("", "services"): ServiceRules,
    (_ADMISSION, "mutatingwebhookconfigurations"): partial(WebhookRules, is_mutating=True),
    (_ADMISSION, "validatingwebhookconfigurations"): partial(WebhookRules, is_mutating=False),
    ("apiextensions.k8s.io", "customresourcedefinitions"): DefinitionRules,
    ("apiregistration.k8s.io", "apiservices"): ApiServiceRules,
    ("apps", "controllerrevisions"): RevisionRules,
    ("coordination.k8s.io", "leases"): LeaseRules,
    ("discovery.k8s.io", "endpointslices"): EndpointSliceRules,
    ("events.k8s.io", "events"): partial(EventRules, is_newer=True),
    ("policy", "poddisruptionbudgets"): BudgetRules,
    (RBAC, "clusterrolebindings"): partial(BindingRules, is_of_cluster=True),
    (RBAC, "clusterroles"): partial(RoleRules, is_of_cluster=True),
    (RBAC, "rolebindings"): partial(BindingRules, is_of_cluster=False),
    (RBAC, "roles"): partial(RoleRules, is_of_cluster=False),
    ("scheduling.k8s.io", "priorityclasses"): PriorityClassRules,
    ("storage.k8s.io", "storageclasses"): StorageClassRules,
}
"""By group and plural name."""


def rules_of(kind: Kind) -> Rules:
    if kind.is_custom:
        return CustomRules()
    return _RULES.get((kind.group, kind.names.plural), Rules)()
