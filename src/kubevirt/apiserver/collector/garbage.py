"""The garbage collector: dependants follow their owners, in the way in which the owner was deleted.

- Background: the owner is gone, and its dependants go when they are seen to belong to nobody.
- Foreground: the owner is held by a finalizer until the dependants that block it are gone.
- Orphan: the owner is held until no dependant names it any more.

Events of the store keep the graph and say at which keys to look. What is done about a key is decided
from the store as it is then, and each write holds only for the version that was looked at: so nothing
goes whose owner is there. An owner of a kind that is not served might be; its dependants wait.
"""

from collections.abc import Iterable
from typing import Any, Final

from kubevirt.apiserver.collector import traits
from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.collector.deciding import STAYS, Plan, decide
from kubevirt.apiserver.collector.graph import Graph
from kubevirt.apiserver.collector.journal import Journal
from kubevirt.apiserver.collector.owners import Owners
from kubevirt.apiserver.collector.queue import Queue
from kubevirt.apiserver.collector.strays import Strays
from kubevirt.apiserver.collector.traits import Place, Traits
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.stored import object_of
from kubevirt.apiserver.storage.records import Entry, Event

Object = dict[str, Any]

WORKERS: Final = 16
"""So many deletions can share one commit to the disk."""
_EVENTS: Final = ("/registry/core/events/", "/registry/events.k8s.io/events/")
"""They belong to nobody and go by their age."""


class Garbage:
    def __init__(self, registry: Registry, journal: Journal) -> None:
        self._registry = registry
        self._controller = Controller(registry, journal, "generic-garbage-collector")
        self._graph = Graph()
        self._owners = Owners(registry, self._graph)
        self._strays = Strays(registry, self._controller, self._owners)
        self._queue = Queue(registry.clock, "garbage collection")
        self._puzzling: set[str] = set()
        """Dependants that name an owner of a kind that is not served."""

    # What is seen

    async def load(self, at: int) -> None:
        """Reads all there is, and looks at what is not plainly in order."""
        self._graph.clear()
        async for chunk in self._registry.store.scan("/registry/", at=at):
            for entry in chunk:
                self._see(entry)
                if entry.key not in self._graph:
                    continue
                if not await self._owners.are_solid(traits.read(entry.value)):
                    self._queue.add(entry.key)
        self._graph.prune()

    def observe(self, event: Event) -> None:
        if event.entry is None:
            self._see_gone(event)
        elif self._see(event.entry):
            self._queue.add(event.key)

    def _see(self, entry: Entry) -> bool:
        """Puts an object into the graph; tells whether its owners are others than before."""
        key, value = entry.key, entry.value
        is_owned = traits.is_owned(value)
        is_held = traits.is_held_for_dependants(value)
        is_of_interest = is_owned or is_held or key in self._graph
        if not is_of_interest or key.startswith(_EVENTS):
            return False
        thing = traits.read(value)
        if self._graph.hold(key, thing):
            self._look_at_all([key, *self._graph.dependants(thing.uid)])
        has_changed, left = self._graph.link(key, thing.owners)
        self._look_at_held(left)
        return has_changed

    def _see_gone(self, event: Event) -> None:
        self._look_at_held(self._graph.unlink(event.key))
        self._puzzling.discard(event.key)
        if event.previous:
            uid = traits.read(event.previous.value).uid
            self._look_at_all(self._graph.lose(event.key, uid))

    def _look_at_held(self, owners: Iterable[str]) -> None:
        self._look_at_all(key for owner in owners if (key := self._graph.held(owner)))

    def _look_at_puzzles(self) -> None:
        """A kind came or went, or is served in other versions."""
        puzzling, self._puzzling = self._puzzling, set()
        self._look_at_all(puzzling)

    def _look_at_all(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._queue.add(key)

    # What is done

    async def run(self) -> None:
        with self._registry.catalog.followed(self._look_at_puzzles):
            self._look_at_puzzles()
            await self._queue.run(self._look_at, WORKERS)

    async def _look_at(self, key: str) -> bool:
        """Takes the next step, if there is one; tells whether nothing is left to do."""
        entry = await self._registry.store.get(key)
        place = Place.of(key)
        kind = self._registry.catalog.known(place.group, place.plural)
        if entry is None or kind is None:
            return True
        thing = traits.read(entry.value)
        above = await self._owners.above(thing)
        if above.unknown:
            self._puzzling.add(key)
        plan = decide(thing, above, self._graph.below(thing.uid))
        strays = []
        if above.misplaced or plan.unlinked or plan.deletion:
            strays = await self._strays.among(thing, above)
        if plan != STAYS:
            await self._carry_out(plan, kind, entry, thing)
        await self._strays.report(kind, thing, strays)
        return not plan.unlinked and not plan.unblocks

    async def _carry_out(self, plan: Plan, kind: Kind, entry: Entry, thing: Traits) -> None:
        """Each write is for this version of the object, or not at all."""
        if plan.deletion:
            conditions = {"uid": thing.uid, "resourceVersion": str(entry.revision)}
            wanted = {"propagationPolicy": plan.deletion, "preconditions": conditions}
            await self._controller.delete(kind, thing.namespace, thing.name, wanted)
            return
        metadata = object_of(entry, "")["metadata"]
        references: list[Object] = metadata.get("ownerReferences") or []
        change: Object
        if plan.released:
            change = {"finalizers": [each for each in thing.holds if each != plan.released]}
        elif plan.unblocks:
            change = {
                "ownerReferences": [{**each, "blockOwnerDeletion": False} for each in references]
            }
        else:
            unlinked = set(plan.unlinked)  # an object has room for ten thousand
            kept = [each for each in references if each["uid"] not in unlinked]
            change = {"ownerReferences": kept}
        patch = {"metadata": {"resourceVersion": metadata["resourceVersion"], **change}}
        await self._controller.merge(kind, thing.namespace, thing.name, patch)
