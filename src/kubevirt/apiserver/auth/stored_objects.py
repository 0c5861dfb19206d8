"""The port to what is stored, on the store itself."""

from collections.abc import Mapping
from typing import Any

from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.registry import stored
from kubevirt.apiserver.storage.store import Store


class StoredObjects:
    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    async def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        kind = self._catalog.kind("", resource)
        if not name or "/" in name:
            return None
        entry = await self._store.get(kind.key(namespace, name))
        return stored.object_of(entry, "v1") if entry else None
