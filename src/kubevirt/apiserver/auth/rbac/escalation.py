"""Nobody gives away what they do not hold.

Whoever writes a role must have all that it allows, or the verb `escalate` on it; whoever binds one must have
all that it allows, or the verb `bind` on it. Without this, the right to write roles would be the right to
everything.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver.auth.decision import Decision
from kubevirt.apiserver.auth.names import MASTERS
from kubevirt.apiserver.auth.rbac import aggregation
from kubevirt.apiserver.auth.rbac.policy import CLUSTER_ROLES, GROUP, ROLES, Policy, RoleRef
from kubevirt.apiserver.auth.rbac.rules import EVERYTHING, Rule, listed, missing, rules_of, shown
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.schema.gotext import quoted

Object = Mapping[str, Any]
Authorize = Callable[[Asked, Identity], Decision]

_OF_THE_COLLECTOR: Final = ("ownerReferences", "finalizers", "managedFields", "resourceVersion")
"""What a change of metadata may be about without granting anything."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A role or binding that somebody is about to store."""

    resource: str
    namespace: str
    asked_name: str
    """Of the request; a creation has none yet."""
    new: Object
    old: Object | None = None

    @property
    def name(self) -> str:
        found: str = self.new["metadata"].get("name", "")
        return found


class Escalation:
    def __init__(self, policy: Policy, authorize: Authorize) -> None:
        self._policy = policy
        self._authorize = authorize

    def check_role(self, written: Written, identity: Identity) -> None:
        """Raises a Refusal if the role allows more than its author may."""
        if MASTERS in identity.groups or self._may_escalate(written, identity):
            return
        if written.old is not None and _is_housekeeping(written.new, written.old):
            return
        self._check_held(written, identity, rules_of(written.new))
        is_aggregated = aggregation.selectors(written.new) or (
            written.old is not None and aggregation.selectors(written.old)
        )
        if is_aggregated and self._missing(identity, written.namespace, EVERYTHING):
            raise _forbidden(
                written, "must have cluster-admin privileges to use the aggregationRule"
            )

    def check_binding(self, written: Written, identity: Identity) -> None:
        """Raises a Refusal if the binding gives more than its author has."""
        if MASTERS in identity.groups:
            return
        if written.old is not None and _is_housekeeping(written.new, written.old):
            return
        ref = RoleRef.of(written.new)
        if self._may_bind(ref, written, identity):
            return
        role = self._policy.role(ref)
        if role is None:
            raise _no_role(written, ref)
        self._check_held(written, identity, role.rules)

    def _may_escalate(self, written: Written, identity: Identity) -> bool:
        asked = Asked(
            verb="escalate",
            path="",
            is_resource=True,
            group=GROUP,
            namespace=written.namespace,
            resource=written.resource,
            name=written.asked_name,
        )
        return self._authorize(asked, identity).allowed

    def _may_bind(self, ref: RoleRef, written: Written, identity: Identity) -> bool:
        asked = Asked(
            verb="bind",
            path="",
            is_resource=True,
            group=GROUP,
            namespace=written.namespace,
            resource=ROLES if ref.kind == "Role" else CLUSTER_ROLES,
            name=ref.name,
        )
        return self._authorize(asked, identity).allowed

    def _check_held(self, written: Written, identity: Identity, rules: Sequence[Rule]) -> None:
        lacking = self._missing(identity, written.namespace, rules)
        if not lacking:
            return
        cause = (
            f"user {quoted(identity.user)} (groups={listed(identity.groups)}) is attempting to grant "
            f"RBAC permissions not currently held:\n{shown(lacking)}"
        )
        holdings = self._policy.holdings(identity, written.namespace)
        if holdings.errors:
            cause = f"{cause}; resolution errors: [{holdings.problem}]"
        raise _forbidden(written, cause)

    def _missing(self, identity: Identity, namespace: str, rules: Sequence[Rule]) -> list[Rule]:
        return missing(self._policy.rules_for(identity, namespace), rules)


def _is_housekeeping(new: Object, old: Object) -> bool:
    """Whether only what garbage collection needs was changed."""
    return _without_housekeeping(new) == _without_housekeeping(old)


def _without_housekeeping(object_: Object) -> dict[str, Any]:
    metadata = {
        name: value for name, value in object_["metadata"].items() if name not in _OF_THE_COLLECTOR
    }
    return {**object_, "metadata": metadata}


def _forbidden(written: Written, cause: str) -> Refusal:
    about = f"{written.resource}.{GROUP} {quoted(written.name)}"
    details = StatusDetails(name=written.name, group=GROUP, kind=written.resource)
    return refusal(403, "Forbidden", f"{about} is forbidden: {cause}", details=details)


def _no_role(written: Written, ref: RoleRef) -> Refusal:
    """Kubernetes names the kind of the binding here, though it is the role that is missing."""
    details = StatusDetails(name=ref.name, group=GROUP, kind=written.resource)
    message = f"{written.resource}.{GROUP} {quoted(ref.name)} not found"
    return refusal(404, "NotFound", message, details=details)
