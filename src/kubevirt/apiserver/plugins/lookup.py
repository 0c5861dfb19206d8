"""What plugins ask the store."""

from contextlib import suppress
from typing import Any

from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry import stored
from kubevirt.apiserver.storage.records import Entry
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.clock import Clock

Object = dict[str, Any]


class Lookup:
    def __init__(self, store: Store, catalog: Catalog, clock: Clock) -> None:
        self._store = store
        self._catalog = catalog
        self._clock = clock

    async def get(self, group: str, plural: str, namespace: str, name: str) -> Object | None:
        kind = self._catalog.kind(group, plural)
        return _object(await self._store.get(kind.key(namespace, name)), kind)

    async def all(self, group: str, plural: str) -> list[Object]:
        """For kinds of which there are few."""
        kind = self._catalog.kind(group, plural)
        return [
            stored.object_of(entry, kind.storage_version.name)
            async for chunk in self._store.scan(kind.prefix)
            for entry in chunk
        ]

    async def awaited(
        self, plural: str, namespace: str, name: str, *, limit_s: float
    ) -> Object | None:
        """An object of the core that somebody else is about to make, or None after the limit."""
        kind = self._catalog.kind("", plural)
        key = kind.key(namespace, name)
        if found := _object(await self._store.get(key), kind):
            return found
        with self._store.watch(f"{kind.prefix}{namespace}/") as watch, suppress(TimeoutError):
            if found := _object(await self._store.get(key), kind):
                return found
            async with self._clock.timeout(limit_s):
                async for events in watch:
                    for event in events:
                        if event.key == key and event.entry:
                            return _object(event.entry, kind)
        return None


def _object(entry: Entry | None, kind: Kind) -> Object | None:
    return stored.object_of(entry, kind.storage_version.name) if entry else None
