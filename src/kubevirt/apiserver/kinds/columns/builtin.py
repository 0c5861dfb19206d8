"""Tables of built-in kinds: their columns are those of a real server, and so is what stands in them.

A layout is written as the header that `kubectl get` prints, `+` before what only `-o wide` shows, and
the function that fills a row. Kinds with much to say have files of their own.
"""

from collections.abc import Callable
from typing import Any, Final

from kubevirt.apiserver.kinds.columns import events, machines, pods, volumes
from kubevirt.apiserver.kinds.columns.cells import NONE, Object, age_of, at, ports_of
from kubevirt.apiserver.kinds.kind import Column

Cells = Callable[[Object, float], list[Any]]

_TYPES: Final = {
    "Allowed Disruptions": "integer",
    "Created At": "date",
    "Global-Default": "boolean",
    "Value": "integer",
    "Webhooks": "integer",
}
_NAME: Final = Column(name="Name", format="name", description="Name of the object")


def _columns(header: str) -> tuple[Column, ...]:
    return tuple(_column(each) for each in header.split(", "))


def _column(text: str) -> Column:
    name = text.removeprefix("+")
    priority = 1 if text.startswith("+") else 0
    if name == "Name":
        return Column(name=name, format="name", description=_NAME.description, priority=priority)
    return Column(name=name, type=_TYPES.get(name, "string"), priority=priority)


def _name(object_: Object) -> str:
    return str(object_["metadata"].get("name", ""))


def _config_map(object_: Object, now: float) -> list[Any]:
    count = len(object_.get("data") or {}) + len(object_.get("binaryData") or {})
    return [_name(object_), count, age_of(object_, now)]


def _namespace(object_: Object, now: float) -> list[Any]:
    return [_name(object_), at(object_, "status", "phase"), age_of(object_, now)]


def _secret(object_: Object, now: float) -> list[Any]:
    count = len(object_.get("data") or {})
    return [_name(object_), object_.get("type", ""), count, age_of(object_, now)]


def _service_account(object_: Object, now: float) -> list[Any]:
    return [_name(object_), len(object_.get("secrets") or []), age_of(object_, now)]


def _service(object_: Object, now: float) -> list[Any]:
    spec = object_.get("spec", {})
    kind = spec.get("type", "ClusterIP")
    selector = ",".join(f"{k}={v}" for k, v in sorted((spec.get("selector") or {}).items()))
    return [
        _name(object_),
        kind,
        spec.get("clusterIP") or NONE,
        _external(object_, spec, kind),
        ports_of(spec.get("ports") or []),
        age_of(object_, now),
        selector or NONE,
    ]


def _external(object_: Object, spec: Object, kind: str) -> str:
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    named = list(spec.get("externalIPs") or [])
    if kind == "LoadBalancer":
        gates = at(object_, "status", "loadBalancer", "ingress") or []
        named = [each.get("ip") or each.get("hostname", "") for each in gates] + named
        return ",".join(named) or "<pending>"
    return ",".join(named) or NONE


def _endpoints(object_: Object, now: float) -> list[Any]:
    found = [
        f"{address['ip']}:{port['port']}"
        for subset in object_.get("subsets") or []
        for port in subset.get("ports") or []
        for address in subset.get("addresses") or []
    ]
    more = f" + {len(found) - 3} more..." if len(found) > 3 else ""
    return [_name(object_), (",".join(found[:3]) + more) or NONE, age_of(object_, now)]


def _endpoint_slice(object_: Object, now: float) -> list[Any]:
    ports = [str(each.get("port", "*")) for each in object_.get("ports") or []]
    found = [each for one in object_.get("endpoints") or [] for each in one.get("addresses") or []]
    return [
        _name(object_),
        object_.get("addressType", ""),
        _some(ports, "<unset>"),
        _some(found, "<unset>"),
        age_of(object_, now),
    ]


def _some(values: list[str], otherwise: str) -> str:
    if not values:
        return otherwise
    more = f" + {len(values) - 3} more..." if len(values) > 3 else ""
    return ",".join(values[:3]) + more


def _webhooks(object_: Object, now: float) -> list[Any]:
    return [_name(object_), len(object_.get("webhooks") or []), age_of(object_, now)]


def _created(object_: Object, now: float) -> list[Any]:  # noqa: ARG001
    return [_name(object_), object_["metadata"].get("creationTimestamp")]


def _api_service(object_: Object, now: float) -> list[Any]:
    service = at(object_, "spec", "service") or {}
    conditions = at(object_, "status", "conditions") or []
    available: Object = next((one for one in conditions if one.get("type") == "Available"), {})
    status = available.get("status", "Unknown")
    shown = status if status == "True" else f"{status} ({available.get('reason', '')})"
    where = f"{service.get('namespace')}/{service.get('name')}" if service else "Local"
    return [_name(object_), where, shown if available else "Unknown", age_of(object_, now)]


def _revision(object_: Object, now: float) -> list[Any]:
    owners = object_["metadata"].get("ownerReferences") or []
    owner = next((each for each in owners if each.get("controller")), None)
    shown = NONE
    if owner:
        group = owner["apiVersion"].rpartition("/")[0]
        kind = f"{owner['kind'].lower()}.{group}" if group else owner["kind"].lower()
        shown = f"{kind}/{owner['name']}"
    return [_name(object_), shown, object_.get("revision", 0), age_of(object_, now)]


def _lease(object_: Object, now: float) -> list[Any]:
    return [_name(object_), at(object_, "spec", "holderIdentity"), age_of(object_, now)]


def _budget(object_: Object, now: float) -> list[Any]:
    spec = object_.get("spec", {})
    return [
        _name(object_),
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        at(object_, "status", "disruptionsAllowed") or 0,
        age_of(object_, now),
    ]


def _binding(object_: Object, now: float) -> list[Any]:
    role = object_.get("roleRef", {})
    subjects = object_.get("subjects") or []

    def of_kind(kind: str) -> str:
        names = [
            f"{each.get('namespace', '')}/{each['name']}"
            if kind == "ServiceAccount"
            else each["name"]
            for each in subjects
            if each.get("kind") == kind
        ]
        return ", ".join(names)

    shown = f"{role.get('kind', '')}/{role.get('name', '')}"
    kinds = ("User", "Group", "ServiceAccount")
    return [_name(object_), shown, age_of(object_, now), *map(of_kind, kinds)]


def _priority_class(object_: Object, now: float) -> list[Any]:
    return [
        _name(object_),
        object_.get("value", 0),
        bool(object_.get("globalDefault")),
        age_of(object_, now),
        object_.get("preemptionPolicy", ""),
    ]


_CREATED: Final = ("Name, Created At", _created)
_WEBHOOKS: Final = ("Name, Webhooks, Age", _webhooks)
_BINDING: Final = ("Name, Role, Age, +Users, +Groups, +ServiceAccounts", _binding)
_RBAC: Final = "rbac.authorization.k8s.io"
_ADMISSION: Final = "admissionregistration.k8s.io"

_TABLES: Final[dict[tuple[str, str], tuple[str, Cells]]] = {
    ("", "configmaps"): ("Name, Data, Age", _config_map),
    ("", "endpoints"): ("Name, Endpoints, Age", _endpoints),
    ("", "events"): (events.HEADER, events.row),
    ("", "namespaces"): ("Name, Status, Age", _namespace),
    ("", "nodes"): (machines.NODE_HEADER, machines.node),
    ("", "persistentvolumeclaims"): (volumes.CLAIM_HEADER, volumes.claim),
    ("", "persistentvolumes"): (volumes.VOLUME_HEADER, volumes.volume),
    ("", "pods"): (pods.HEADER, pods.row),
    ("", "secrets"): ("Name, Type, Data, Age", _secret),
    ("", "serviceaccounts"): ("Name, Secrets, Age", _service_account),
    ("", "services"): (
        "Name, Type, Cluster-IP, External-IP, Port(s), Age, +Selector",
        _service,
    ),
    (_ADMISSION, "mutatingwebhookconfigurations"): _WEBHOOKS,
    (_ADMISSION, "validatingwebhookconfigurations"): _WEBHOOKS,
    ("apiextensions.k8s.io", "customresourcedefinitions"): _CREATED,
    ("apiregistration.k8s.io", "apiservices"): ("Name, Service, Available, Age", _api_service),
    ("apps", "controllerrevisions"): ("Name, Controller, Revision, Age", _revision),
    ("coordination.k8s.io", "leases"): ("Name, Holder, Age", _lease),
    ("discovery.k8s.io", "endpointslices"): (
        "Name, AddressType, Ports, Endpoints, Age",
        _endpoint_slice,
    ),
    ("events.k8s.io", "events"): (events.HEADER, events.row),
    ("policy", "poddisruptionbudgets"): (
        "Name, Min Available, Max Unavailable, Allowed Disruptions, Age",
        _budget,
    ),
    (_RBAC, "clusterrolebindings"): _BINDING,
    (_RBAC, "clusterroles"): _CREATED,
    (_RBAC, "rolebindings"): _BINDING,
    (_RBAC, "roles"): _CREATED,
    ("scheduling.k8s.io", "priorityclasses"): (
        "Name, Value, Global-Default, Age, PreemptionPolicy",
        _priority_class,
    ),
    ("storage.k8s.io", "storageclasses"): (volumes.CLASS_HEADER, volumes.storage_class),
}
"""By group and plural name."""


def table_of(group: str, plural: str) -> tuple[tuple[Column, ...], Cells]:
    header, cells = _TABLES.get((group, plural), _CREATED)
    return _columns(header), cells
