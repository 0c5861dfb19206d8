"""Namespaces that stay: the server's own, which nobody can delete."""

from typing import Any, Final

from kubevirt.apiserver import refusals
from kubevirt.apiserver.registry.admission import Review

Object = dict[str, Any]

PROTECTED: Final = ("default", "kube-public", "kube-system")


class NamespaceProtection:
    """A step of admission."""

    async def mutate(self, object_: Object, review: Review) -> Object:  # noqa: ARG002  # a Step's
        return object_

    async def validate(self, object_: Object | None, review: Review) -> None:  # noqa: ARG002
        call = review.call
        is_namespace = (call.kind.group, call.kind.names.plural) == ("", "namespaces")
        if review.operation == "DELETE" and is_namespace and call.name in PROTECTED:
            words = "this namespace may not be deleted"
            raise refusals.forbidden(call.kind, call.name, words)
