"""May they: everybody who has an opinion is asked in turn; the first yes is the answer.

Whoever is of `system:masters` may do anything, without looking further: no mistake in a role or binding
can lock the owner of the machine out.
"""

from collections.abc import Mapping
from typing import Any, Final

from kubevirt.apiserver.auth.decision import ALLOWED, NO_OPINION, Decision, forbidden
from kubevirt.apiserver.auth.names import MASTERS
from kubevirt.apiserver.auth.nodes.authorizer import NodeAuthorizer, node_name
from kubevirt.apiserver.auth.nodes.graph import RESOURCES as GRAPH_RESOURCES
from kubevirt.apiserver.auth.nodes.graph import NodeGraph
from kubevirt.apiserver.auth.rbac.policy import GROUP as RBAC_GROUP
from kubevirt.apiserver.auth.rbac.policy import RESOURCES as RBAC_RESOURCES
from kubevirt.apiserver.auth.rbac.policy import Policy
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.registry.identity import Identity

INTERESTS: Final = (
    *((RBAC_GROUP, resource) for resource in RBAC_RESOURCES),
    *(("", resource) for resource in GRAPH_RESOURCES),
)
"""The kinds, by group and plural, whose every change has to be told to `observe`."""


class Authorization:
    def __init__(self) -> None:
        self.policy = Policy()
        self.graph = NodeGraph()
        self._nodes = NodeAuthorizer(self.graph)

    def observe(
        self,
        group: str,
        resource: str,
        namespace: str,
        name: str,
        object_: Mapping[str, Any] | None,
    ) -> None:
        """One of the kinds of `INTERESTS` is now as given, or gone."""
        if group == RBAC_GROUP:
            self.policy.observe(resource, namespace, name, object_)
        else:
            self.graph.observe(resource, namespace, name, object_)

    def authorize(self, asked: Asked, identity: Identity) -> Decision:
        if MASTERS in identity.groups:
            return ALLOWED
        of_node = NO_OPINION
        if node_name(identity) is not None:
            of_node = self._nodes.decide(asked, identity)
            if of_node.allowed:
                return of_node
        decision = self.policy.decide(asked, identity)
        if decision.allowed or not of_node.reason:
            return decision
        reasons = (each.reason for each in (of_node, decision) if each.reason)
        return Decision(allowed=False, reason="\n".join(reasons))

    def check(self, asked: Asked, identity: Identity) -> Decision:
        """The same, where a no ends the request with a Refusal."""
        decision = self.authorize(asked, identity)
        if not decision.allowed:
            raise forbidden(asked, identity, decision.reason)
        return decision
