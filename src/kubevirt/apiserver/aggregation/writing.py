"""Objects that the server writes on its own behalf, as Kubernetes' own server does."""

from typing import Any, Final

from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry import changing, creating, deleting, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import SERVER
from kubevirt.apiserver.registry.options import DeleteOptions, WriteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.storage.errors import Conflict
from kubevirt.apiserver.storage.records import Entry

Object = dict[str, Any]

MANAGER: Final = "kube-apiserver"
"""Whose fields they are."""


class OwnWrites:
    """Of one kind. Whoever is quicker wins: their change comes by again, and is looked at anew."""

    def __init__(self, registry: Registry, kind: Kind) -> None:
        self._registry = registry
        self._kind = kind
        name = kind.storage_version.name
        self._api_version = f"{kind.group}/{name}" if kind.group else name

    def read(self, entry: Entry) -> Object:
        return stored.object_of(entry, self._api_version)

    async def create(self, object_: Object) -> None:
        whole = {"apiVersion": self._api_version, "kind": self._kind.names.kind, **object_}
        metadata = object_["metadata"]
        call = self._call("create", namespace=metadata.get("namespace", ""))
        await creating.store_new(self._registry, call, whole, WriteOptions(manager=MANAGER))

    async def change(self, object_: Object, entry: Entry, subresource: str = "") -> bool:
        """False if somebody was quicker."""
        metadata = object_["metadata"]
        call = self._call(
            "update",
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            subresource=subresource,
        )
        try:
            await changing.store_change(
                self._registry, call, object_, entry, WriteOptions(manager=MANAGER)
            )
        except Conflict:
            return False
        return True

    async def delete(self, entry: Entry) -> None:
        await deleting.delete_entry(
            self._registry, self._call("delete"), entry, DeleteOptions(policy="Background")
        )

    def _call(
        self, verb: str, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> Call:
        return Call(
            verb=verb,
            kind=self._kind,
            version=self._kind.storage_version,
            identity=SERVER,
            namespace=namespace,
            name=name,
            subresource=subresource,
            user_agent=MANAGER,
        )
