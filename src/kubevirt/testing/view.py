"""What one request may see of a resource, and how: the objects it selects, decoded to its type."""

from typing import Any, Generic, TypeVar

import msgspec

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.kube.key import Key
from kubevirt.kube.source import ObjectList
from kubevirt.kube.watch import EventType, Undecodable, WatchEvent
from kubevirt.testing.history import Data, Revision
from kubevirt.testing.selection import selects

T = TypeVar("T")


class View(msgspec.Struct, Generic[T], frozen=True):
    resource: Resource[T]
    namespace: str | None
    label_selector: str
    field_selector: str

    def objects(self, state: dict[Key, Data]) -> list[Data]:
        return [data for data in state.values() if self._shows(data)]

    def page(
        self, objects: list[Data], at: int, *, is_first: bool, remaining: int
    ) -> ObjectList[T]:
        page: ObjectList[T] = ObjectList(
            items=[],
            undecodable=[],
            resource_version=str(at),
            is_first=is_first,
            remaining=remaining or None,
        )
        for data in objects:
            thing = self._decode(data)
            if isinstance(thing, Undecodable):
                page.undecodable.append(thing)
            else:
                page.items.append(thing)
        return page

    def added(self, data: Data) -> WatchEvent[T]:
        return self._event(EventType.ADDED, data)

    def event(self, change: Revision) -> WatchEvent[T] | None:
        """A change as this view sees it: an object that enters it is added, one that leaves deleted."""
        was_here = change.old is not None and self._shows(change.old)
        is_here = change.type is not EventType.DELETED and self._shows(change.data)
        if is_here:
            return self._event(EventType.MODIFIED if was_here else EventType.ADDED, change.data)
        if change.old is None or not was_here:
            return None
        # As it was when it was last here, with the version of the change.
        metadata = {**change.old["metadata"], "resourceVersion": str(change.number)}
        return self._event(EventType.DELETED, {**change.old, "metadata": metadata})

    def _shows(self, data: Data) -> bool:
        if self.namespace and data["metadata"].get("namespace") != self.namespace:
            return False
        return selects(self.label_selector, self.field_selector, data)

    def _event(self, type_: EventType, data: Data) -> WatchEvent[T]:
        version: str = data["metadata"]["resourceVersion"]
        return WatchEvent(type_, self._decode(data), version)

    def _decode(self, data: Data) -> T | Undecodable:
        try:
            return msgspec.convert(data, self.resource.type)
        except msgspec.ValidationError as error:
            return Undecodable(metadata=_readable_metadata(data), error=str(error))


def bookmark(number: int, *, initial_events_end: bool = False) -> WatchEvent[Any]:
    return WatchEvent(EventType.BOOKMARK, None, str(number), initial_events_end)


def _readable_metadata(data: Data) -> ObjectMeta:
    try:
        return msgspec.convert(data["metadata"], ObjectMeta)
    except msgspec.ValidationError:
        return ObjectMeta()
