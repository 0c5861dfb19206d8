"""The built-in kinds that both servers have: how the `kubernetes` package names them, and an object of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Object = dict[str, Any]


def _annotate(object_: Object) -> None:
    object_["metadata"]["annotations"] = {"seen": "twice"}


@dataclass(frozen=True)
class TypedKind:
    api: str
    """The class of its functions."""
    noun: str
    """In the names of its functions."""
    model: str
    body: Mapping[str, Any]
    """All but the metadata; it comes back with at least this."""
    defaults: Mapping[str, Any]
    """What the server adds, some of it."""
    change: Callable[[Object], object] = _annotate
    namespaced: bool = True
    returned: bool = False
    """Whether a deletion is answered with the object, and not with a status."""
    patched: bool = True
    """Not what cannot change: a patch writes it anew, and in Go it then differs by a space."""

    @property
    def functions_on(self) -> str:
        return f"namespaced_{self.noun}" if self.namespaced else self.noun


_MOMENT: Final = "2026-01-02T03:04:05.678901+00:00"
_POD_RULES: Final = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]
_RBAC: Final = "rbac.authorization.k8s.io"
_BINDING: Final = {
    "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "view"},
    "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": "ann"}],
}


def _webhook(name: str) -> Object:
    rule = {"apiGroups": ["nobody.example"], "apiVersions": ["v1"], "resources": ["things"]}
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "clientConfig": {"url": "https://127.0.0.1:1/nobody"},
        "rules": [{**rule, "operations": ["CREATE"]}],
    }


def _core(noun: str, model: str, body: Object, defaults: Object, **more: Any) -> TypedKind:
    return TypedKind("CoreV1Api", noun, model, body, defaults, **more)


KINDS: Final = (
    _core(
        "config_map",
        "V1ConfigMap",
        {"data": {"a": "1"}, "binaryData": {"b": "AAE="}},
        {},
        change=lambda it: it["data"].update(c="3"),
    ),
    _core("secret", "V1Secret", {"data": {"a": "MQ=="}}, {"type": "Opaque"}),
    _core(
        "service_account",
        "V1ServiceAccount",
        {"automountServiceAccountToken": False},
        {},
        returned=True,
    ),
    _core(
        "service",
        "V1Service",
        {
            "spec": {
                "clusterIP": "None",
                "selector": {"app": "x"},
                "ports": [{"port": 80, "targetPort": "web"}],
            }
        },
        {"spec": {"type": "ClusterIP", "ports": [{"protocol": "TCP"}]}},
        change=lambda it: it["spec"]["selector"].update(tier="front"),
        returned=True,
    ),
    _core(
        "endpoints",
        "V1Endpoints",
        {"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]},
        {"subsets": [{"ports": [{"protocol": "TCP"}]}]},
    ),
    _core(
        "event",
        "CoreV1Event",
        {"reason": "Because", "message": "it happened", "involvedObject": {"kind": "ConfigMap"}},
        {},
    ),
    _core(
        "pod",
        "V1Pod",
        {
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [
                    {
                        "name": "main",
                        "image": "nothing",
                        "ports": [{"containerPort": 80}],
                        "resources": {"limits": {"cpu": "500m"}},
                    }
                ],
            }
        },
        {"spec": {"restartPolicy": "Always"}, "status": {"phase": "Pending"}},
        returned=True,
    ),
    _core(
        "persistent_volume_claim",
        "V1PersistentVolumeClaim",
        {
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "",
                "resources": {"requests": {"storage": "1Gi"}},
            }
        },
        {"spec": {"volumeMode": "Filesystem"}, "status": {"phase": "Pending"}},
        returned=True,
    ),
    _core(
        "persistent_volume",
        "V1PersistentVolume",
        {
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/somewhere"},
            }
        },
        {"spec": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}},
        namespaced=False,
        returned=True,
    ),
    _core(
        "node",
        "V1Node",
        {"spec": {"podCIDR": "10.9.0.0/24", "unschedulable": True}},
        {"spec": {"podCIDRs": ["10.9.0.0/24"]}},
        namespaced=False,
    ),
    TypedKind(
        "CoordinationV1Api",
        "lease",
        "V1Lease",
        {"spec": {"holderIdentity": "ann", "leaseDurationSeconds": 15, "renewTime": _MOMENT}},
        {},
        lambda it: it["spec"].update(holderIdentity="bob"),
    ),
    TypedKind(
        "EventsV1Api",
        "event",
        "EventsV1Event",
        {
            "eventTime": _MOMENT,
            "reportingController": "house.example/tests",
            "reportingInstance": "one",
            "action": "Testing",
            "reason": "Because",
            "type": "Normal",
            "regarding": {"kind": "ConfigMap"},
        },
        {},
    ),
    TypedKind(
        "DiscoveryV1Api",
        "endpoint_slice",
        "V1EndpointSlice",
        {
            "addressType": "IPv4",
            "endpoints": [{"addresses": ["10.1.2.3"]}],
            "ports": [{"name": "web", "port": 80}],
        },
        {"ports": [{"protocol": "TCP"}]},
    ),
    TypedKind(
        "PolicyV1Api",
        "pod_disruption_budget",
        "V1PodDisruptionBudget",
        {"spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "x"}}}},
        {"status": {"disruptionsAllowed": 0}},
    ),
    TypedKind(
        "AppsV1Api",
        "controller_revision",
        "V1ControllerRevision",
        {"revision": 3, "data": {"any": {"thing": 1}}},
        {},
        lambda it: it.update(revision=4),
        patched=False,
    ),
    TypedKind(
        "RbacAuthorizationV1Api",
        "role",
        "V1Role",
        {"rules": _POD_RULES},
        {},
        lambda it: it["rules"][0]["verbs"].append("watch"),
    ),
    TypedKind("RbacAuthorizationV1Api", "role_binding", "V1RoleBinding", _BINDING, {}),
    TypedKind(
        "RbacAuthorizationV1Api",
        "cluster_role",
        "V1ClusterRole",
        {"rules": [*_POD_RULES, {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]},
        {},
        namespaced=False,
    ),
    TypedKind(
        "RbacAuthorizationV1Api",
        "cluster_role_binding",
        "V1ClusterRoleBinding",
        _BINDING,
        {},
        namespaced=False,
    ),
    TypedKind(
        "StorageV1Api",
        "storage_class",
        "V1StorageClass",
        {"provisioner": "house.example/none", "parameters": {"speed": "slow"}},
        {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
        namespaced=False,
        returned=True,
    ),
    TypedKind(
        "SchedulingV1Api",
        "priority_class",
        "V1PriorityClass",
        {"value": 7, "description": "for tests"},
        {"preemptionPolicy": "PreemptLowerPriority"},
        namespaced=False,
    ),
    TypedKind(
        "AdmissionregistrationV1Api",
        "mutating_webhook_configuration",
        "V1MutatingWebhookConfiguration",
        {"webhooks": [_webhook("mutate.house.example")]},
        {"webhooks": [{"reinvocationPolicy": "Never", "timeoutSeconds": 10}]},
        namespaced=False,
    ),
    TypedKind(
        "AdmissionregistrationV1Api",
        "validating_webhook_configuration",
        "V1ValidatingWebhookConfiguration",
        {"webhooks": [_webhook("validate.house.example")]},
        {"webhooks": [{"matchPolicy": "Equivalent", "timeoutSeconds": 10}]},
        namespaced=False,
    ),
)
