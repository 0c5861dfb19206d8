"""Who may do what."""

from typing import Annotated

from msgspec import field

from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import ATOMIC, Struct


class PolicyRule(Struct, frozen=True, kw_only=True):
    """…"""

    api_groups: Annotated[tuple[str, ...], ATOMIC] = ()
    non_resource_ur_ls: Annotated[tuple[str, ...], ATOMIC] = field(
        default=(), name="nonResourceURLs"
    )
    resource_names: Annotated[tuple[str, ...], ATOMIC] = ()
    resources: Annotated[tuple[str, ...], ATOMIC] = ()
    verbs: Annotated[tuple[str, ...], ATOMIC]


class AggregationRule(Struct, frozen=True, kw_only=True):
    """…"""

    cluster_role_selectors: Annotated[tuple[LabelSelector, ...], ATOMIC] = ()


class RoleRef(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    api_group: str
    kind: str


class Subject(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    api_group: str | None = None
    kind: str
    namespace: str | None = None


class Role(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    rules: Annotated[tuple[PolicyRule, ...], ATOMIC] = ()


class ClusterRole(Struct, frozen=True, kw_only=True):
    """…"""

    aggregation_rule: AggregationRule | None = None
    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    rules: Annotated[tuple[PolicyRule, ...], ATOMIC] = ()


class RoleBinding(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    role_ref: RoleRef
    subjects: Annotated[tuple[Subject, ...], ATOMIC] = ()


class ClusterRoleBinding(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    role_ref: RoleRef
    subjects: Annotated[tuple[Subject, ...], ATOMIC] = ()
