"""The checks of access that need to see the object: steps of admission, in its order.

Both look at the object as it will be stored, after everybody who may change it has done so.
"""

from typing import Any, Final

from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.nodes.authorizer import node_name
from kubevirt.apiserver.auth.nodes.restriction import Restriction, Write
from kubevirt.apiserver.auth.rbac.escalation import Escalation, Written
from kubevirt.apiserver.auth.rbac.policy import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP,
    ROLE_BINDINGS,
    ROLES,
)
from kubevirt.apiserver.auth.tokens import Objects
from kubevirt.apiserver.registry.admission import Review

Object = dict[str, Any]

_OF_ROLES: Final = (ROLES, CLUSTER_ROLES)
_OF_BINDINGS: Final = (ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)


class NoEscalation:
    """Nobody writes a role or binding that gives more than they have."""

    def __init__(self, authorization: Authorization) -> None:
        self._check = Escalation(authorization.policy, authorization.authorize)

    async def mutate(self, object_: Object, review: Review) -> Object:  # noqa: ARG002  # a Step's
        return object_

    async def validate(self, object_: Object | None, review: Review) -> None:
        call = review.call
        if object_ is None or call.kind.group != GROUP:
            return
        written = Written(
            resource=call.kind.names.plural,
            namespace=call.namespace,
            asked_name=call.name,
            new=object_,
            old=review.old,
        )
        if written.resource in _OF_ROLES:
            self._check.check_role(written, call.identity)
        elif written.resource in _OF_BINDINGS:
            self._check.check_binding(written, call.identity)


class NodeRestriction:
    """A node writes only what is its own."""

    def __init__(self, objects: Objects) -> None:
        self._restriction = Restriction(objects)

    async def mutate(self, object_: Object, review: Review) -> Object:  # noqa: ARG002  # a Step's
        return object_

    async def validate(self, object_: Object | None, review: Review) -> None:
        call = review.call
        node = node_name(call.identity)
        if node is None:
            return
        write = Write(
            node=node,
            kind=call.kind,
            operation=review.operation,
            namespace=call.namespace,
            name=call.name,
            subresource=call.subresource,
            new=object_,
            old=review.old,
        )
        if not node:
            user = call.identity.user
            raise write.refused(f'could not determine node from user "{user}"')
        await self._restriction.check(write)
