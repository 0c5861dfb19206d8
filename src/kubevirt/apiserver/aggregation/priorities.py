"""Which group comes before which, and which of its versions: Kubernetes' own numbers.

kubectl takes the first group that knows a name, so the order is part of the API.
"""

from typing import Final, NamedTuple


class Priority(NamedTuple):
    group: int
    version: int


OF_CUSTOM: Final = Priority(1000, 100)
FIRST_GROUP: Final = "apiregistration.k8s.io"
"""Stands before all others, and has no APIService of its own."""
_FIRST: Final = Priority(20001, 15)
_GROUPS: Final = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "discovery.k8s.io": 16200,
}
"""Of the groups that are built in; each has its first version only."""


def builtin(group: str) -> Priority | None:
    """None for a group that is not built in."""
    if group == FIRST_GROUP:
        return _FIRST
    found = _GROUPS.get(group)
    if found is None:
        return None
    return Priority(found, 15 if group else 1)
