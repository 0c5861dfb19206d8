"""Rows of built-in kinds: their columns and cells are those of a real server."""

from collections.abc import Callable
from typing import Any, Final

from kubevirt.apiserver.kinds.columns.ages import age
from kubevirt.apiserver.kinds.kind import Column

Object = dict[str, Any]
Cells = Callable[[Object, float], list[Any]]

AGE: Final = Column(name="Age", description="Time since the object was created")


def _age(object_: Object, now: float) -> str:
    return age(object_["metadata"].get("creationTimestamp"), now)


def _namespace(object_: Object, now: float) -> list[Any]:
    return [object_.get("status", {}).get("phase", ""), _age(object_, now)]


def _config_map(object_: Object, now: float) -> list[Any]:
    count = len(object_.get("data") or {}) + len(object_.get("binaryData") or {})
    return [count, _age(object_, now)]


def _secret(object_: Object, now: float) -> list[Any]:
    return [object_.get("type", ""), len(object_.get("data") or {}), _age(object_, now)]


def _service_account(object_: Object, now: float) -> list[Any]:
    return [len(object_.get("secrets") or []), _age(object_, now)]


def _lease(object_: Object, now: float) -> list[Any]:
    return [object_.get("spec", {}).get("holderIdentity", ""), _age(object_, now)]


def _definition(object_: Object, now: float) -> list[Any]:  # noqa: ARG001
    return [object_["metadata"].get("creationTimestamp")]


LAYOUTS: Final[dict[tuple[str, str], tuple[tuple[Column, ...], Cells]]] = {
    ("", "configmaps"): ((Column(name="Data", type="string"), AGE), _config_map),
    ("", "namespaces"): ((Column(name="Status"), AGE), _namespace),
    ("", "secrets"): ((Column(name="Type"), Column(name="Data"), AGE), _secret),
    ("", "serviceaccounts"): ((Column(name="Secrets"), AGE), _service_account),
    ("apiextensions.k8s.io", "customresourcedefinitions"): (
        (Column(name="Created At", type="date"),),
        _definition,
    ),
    ("coordination.k8s.io", "leases"): ((Column(name="Holder"), AGE), _lease),
}
"""By group and plural name."""
