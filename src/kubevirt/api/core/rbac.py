"""Who may do what."""

from typing import Annotated

from msgspec import field

from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import ATOMIC, Struct


class PolicyRule(Struct, frozen=True, kw_only=True):
    """Verbs on resources, or on plain URLs; whatever no rule allows is denied."""

    api_groups: Annotated[tuple[str, ...], ATOMIC] = ()
    non_resource_ur_ls: Annotated[tuple[str, ...], ATOMIC] = field(
        default=(), name="nonResourceURLs"
    )
    resource_names: Annotated[tuple[str, ...], ATOMIC] = ()
    resources: Annotated[tuple[str, ...], ATOMIC] = ()
    verbs: Annotated[tuple[str, ...], ATOMIC]


class AggregationRule(Struct, frozen=True, kw_only=True):
    """Collects the rules of other cluster roles by their labels."""

    cluster_role_selectors: Annotated[tuple[LabelSelector, ...], ATOMIC] = ()


class RoleRef(Struct, frozen=True, kw_only=True):
    """The role that a binding grants; cannot be changed."""

    name: str
    api_group: str
    kind: str


class Subject(Struct, frozen=True, kw_only=True):
    """A user, group or service account."""

    name: str
    api_group: str | None = None
    kind: str
    namespace: str | None = None


class Role(Struct, frozen=True, kw_only=True):
    """Rights within one namespace."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    rules: Annotated[tuple[PolicyRule, ...], ATOMIC] = ()


class ClusterRole(Struct, frozen=True, kw_only=True):
    """Rights in the whole cluster, or to be bound in single namespaces."""

    aggregation_rule: AggregationRule | None = None
    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    rules: Annotated[tuple[PolicyRule, ...], ATOMIC] = ()


class RoleBinding(Struct, frozen=True, kw_only=True):
    """Gives subjects the rights of a role, within one namespace."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    role_ref: RoleRef
    subjects: Annotated[tuple[Subject, ...], ATOMIC] = ()


class ClusterRoleBinding(Struct, frozen=True, kw_only=True):
    """Gives subjects the rights of a cluster role everywhere."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    role_ref: RoleRef
    subjects: Annotated[tuple[Subject, ...], ATOMIC] = ()
