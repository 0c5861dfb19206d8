"""Owners: whether those that a dependant names are there, asked of the store itself."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final, Literal

from kubevirt.apiserver.collector import traits
from kubevirt.apiserver.collector.deciding import Above
from kubevirt.apiserver.collector.graph import Graph
from kubevirt.apiserver.collector.traits import Reference, Traits
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry.registry import Registry

Found = Literal["solid", "gone", "waiting", "leaving", "unknown", "misplaced"]
"""The fields of `Above`."""

_KEPT: Final = ("get", "delete")
"""What can be done to kinds whose objects are kept, and so can own something."""
_AT_ONCE: Final = 64
"""Objects that are looked at before others have their turn."""


class Owners:
    def __init__(self, registry: Registry, graph: Graph) -> None:
        self._registry = registry
        self._graph = graph
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._kinds_of = 0

    def kind(self, reference: Reference) -> Kind | None:
        """None if nobody serves it, or not in this version."""
        catalog = self._registry.catalog
        if self._kinds_of != catalog.generation:
            self._kinds = {
                (f"{kind.group}/{each.name}" if kind.group else each.name, kind.names.kind): kind
                for kind in catalog.kinds
                for each in kind.versions
                if each.served and all(verb in kind.verbs for verb in _KEPT)
            }
            self._kinds_of = catalog.generation
        return self._kinds.get((reference.api_version, reference.kind))

    async def above(self, thing: Traits) -> Above:
        found: dict[Found, list[Reference]] = {}
        async for reference, word in self._looked_for(thing):
            found.setdefault(word, []).append(reference)
        return Above(**found)

    async def are_solid(self, thing: Traits) -> bool:
        """Whether nothing has to be done about it."""
        return all([word == "solid" async for _, word in self._looked_for(thing)])

    async def _looked_for(self, thing: Traits) -> AsyncIterator[tuple[Reference, Found]]:
        for at, reference in enumerate(thing.owners, 1):
            yield reference, await self._look_for(reference, thing.namespace)
            if not at % _AT_ONCE:
                await asyncio.sleep(0)  # nobody has so many in earnest; others have their turn

    async def _look_for(self, reference: Reference, namespace: str) -> Found:
        if self._graph.is_leaving(reference.uid):
            return "leaving"
        kind = self.kind(reference)
        if kind and kind.namespaced and not namespace:
            return "misplaced"
        if self._graph.has_lost(reference.uid) and (kind or namespace):
            return "gone"
        if kind is None:
            return "unknown"
        entry = await self._registry.store.get(kind.key(namespace, reference.name))
        owner = traits.read(entry.value) if entry else None
        if owner is traits.UNREADABLE:
            return "unknown"
        if owner is None or owner.uid != reference.uid:
            return "gone"
        if owner.leaves_dependants:
            return "leaving"
        return "waiting" if owner.waits_for_dependants else "solid"

    async def is_elsewhere(self, reference: Reference, namespace: str) -> bool:
        """Whether an owner that is not where it should be is in another namespace, where it can own
        nothing of this one. Good enough to explain, not to decide.
        """
        kind = self.kind(reference)
        if kind is None or not kind.namespaced or self._graph.has_lost(reference.uid):
            return False
        store, homes = self._registry.store, self._registry.catalog.namespaces.prefix
        async for chunk in store.scan(homes):
            for at, entry in enumerate(chunk, 1):
                other = entry.key.removeprefix(homes)
                found = await store.get(kind.key(other, reference.name))
                if found and other != namespace and traits.read(found.value).uid == reference.uid:
                    return True
                if not at % _AT_ONCE:
                    await asyncio.sleep(0)
        return False
