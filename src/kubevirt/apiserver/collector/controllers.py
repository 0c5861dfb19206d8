"""Controllers: who the collector is to everybody else.

Admission, its webhooks and the audit log see the service accounts under which Kubernetes' own controllers
do this work, and fields that they write belong to `kube-controller-manager`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from kubevirt.apiserver.auth.names import (
    AUTHENTICATED,
    service_account_groups,
    service_account_user,
)
from kubevirt.apiserver.collector.journal import Journal
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry import changing, creating, deleting, patching
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.registry import Registry

Object = dict[str, Any]

HOME: Final = "kube-system"
MANAGER: Final = "kube-controller-manager"


class Controller:
    """Writes through the registry, under a name. What is refused is raised as a `Refusal`."""

    def __init__(self, registry: Registry, journal: Journal, name: str) -> None:
        self._registry = registry
        self._journal = journal
        self.identity = Identity(
            user=service_account_user(HOME, name),
            groups=(*service_account_groups(HOME), AUTHENTICATED),
        )

    def call(
        self, verb: str, kind: Kind, namespace: str = "", name: str = "", subresource: str = ""
    ) -> Call:
        return Call(
            verb=verb,
            kind=kind,
            version=kind.storage_version,
            identity=self.identity,
            namespace=namespace,
            name=name,
            subresource=subresource,
            user_agent=MANAGER,
            warnings=[],
        )

    async def create(self, kind: Kind, namespace: str, object_: Object) -> None:
        call = self.call("create", kind, namespace)
        named = {"apiVersion": call.api_version, "kind": kind.names.kind, **object_}
        with self.noted(call):
            await creating.create(self._registry, call, Body(value=named))

    async def replace(self, kind: Kind, object_: Object, subresource: str = "") -> None:
        """The version that was read must still be the one."""
        metadata = object_["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        call = self.call("update", kind, namespace, name, subresource)
        with self.noted(call):
            await changing.update(self._registry, call, Body(value=object_))

    async def merge(
        self, kind: Kind, namespace: str, name: str, patch: Object, subresource: str = ""
    ) -> None:
        call = self.call("patch", kind, namespace, name, subresource)
        with self.noted(call):
            await patching.patch(self._registry, call, patching.MERGE_PATCH, Body(value=patch))

    async def delete(self, kind: Kind, namespace: str, name: str, options: Object) -> None:
        call = self.call("delete", kind, namespace, name)
        with self.noted(call):
            await deleting.delete(self._registry, call, options)

    @contextmanager
    def noted(self, call: Call) -> Iterator[None]:
        """Writes down what the body does."""
        began = self._registry.clock.now()
        try:
            yield
        except Refusal as refused:
            self._journal.note(call, began, refused)
            raise
        self._journal.note(call, began, None)
