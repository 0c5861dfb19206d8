"""What a Kubernetes server remembers: objects, and the numbered changes that led to them.

One counter numbers the changes of all resources, as in etcd. From the changes any earlier state can be
told, until `compact` forgets them. `restore` is what a backup does: later changes never happened.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from kubevirt.api.meta import Status
from kubevirt.api.resource import Resource
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.key import Key
from kubevirt.kube.watch import EventType

Data = dict[str, Any]

FIRST_NUMBER = 7
"""Versions start with one digit and soon have two, so that nobody compares them as text."""


class Revision(msgspec.Struct, frozen=True):
    """One change of one object."""

    number: int
    type: EventType
    key: Key
    data: Data
    """The object as it is now; for DELETED as it was last, with the version of the deletion."""

    old: Data | None
    """The object before the change."""


class History:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self.number = FIRST_NUMBER
        """The version of the newest change."""

        self.compacted = 0
        """Changes up to this one are forgotten; a state before it cannot be told any more."""

        self._now = now
        self._uids = 0
        self._changes: dict[str, list[Revision]] = {}
        self._current: dict[str, dict[Key, Data]] = {}

    def create(self, resource: Resource[Any], data: Any) -> Data:
        thing: Data = msgspec.json.decode(msgspec.json.encode(data))
        key = _key(thing)
        if key in self._objects(resource):
            raise AlreadyExists(_status(409, f"{resource.group_resource} {key} already exists"))
        self._uids += 1
        thing |= {"apiVersion": resource.api_version, "kind": resource.kind}
        thing["metadata"] |= {
            "uid": str(UUID(int=self._uids)),
            "creationTimestamp": self._now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        return self._record(resource, EventType.ADDED, key, thing, None)

    def update(self, resource: Resource[Any], key: Key, changes: Data) -> Data:
        """Merges `changes` into the object. A change of nothing is no change."""
        old = self.get(resource, key)
        new = _merged(old, changes)
        if new == old:
            return old
        return self._record(resource, EventType.MODIFIED, key, new, old)

    def delete(self, resource: Resource[Any], key: Key) -> Data:
        old = self.get(resource, key)
        return self._record(resource, EventType.DELETED, key, old, old)

    def get(self, resource: Resource[Any], key: Key) -> Data:
        try:
            return self._objects(resource)[key]
        except KeyError:
            raise NotFound(_status(404, f"{resource.group_resource} {key} not found")) from None

    def state(self, resource: Resource[Any], at: int | None = None) -> dict[Key, Data]:
        """All objects of a resource, by key, as of change `at`, or now."""
        if at is None or at >= self.number:
            return dict(sorted(self._objects(resource).items()))
        state = _outcome(change for change in self._of(resource) if change.number <= at)
        return dict(sorted(state.items()))

    def after(self, resource: Resource[Any], number: int) -> Iterator[Revision]:
        """The changes that came after `number`, also those that come while it is being read."""
        changes = self._of(resource)
        at = bisect_right(changes, number, key=lambda change: change.number)
        while at < len(changes):
            yield changes[at]
            at += 1

    def compact(self, upto: int) -> None:
        self.compacted = max(self.compacted, upto)

    def restore(self, number: int) -> None:
        """Back to an earlier version: what came later never happened, and the numbers come again."""
        for name, changes in self._changes.items():
            changes[:] = [change for change in changes if change.number <= number]
            self._current[name] = _outcome(changes)
        self.number = number
        self.compacted = min(self.compacted, number)

    def _objects(self, resource: Resource[Any]) -> dict[Key, Data]:
        return self._current.setdefault(resource.group_resource, {})

    def _of(self, resource: Resource[Any]) -> list[Revision]:
        return self._changes.setdefault(resource.group_resource, [])

    def _record(
        self, resource: Resource[Any], type_: EventType, key: Key, data: Data, old: Data | None
    ) -> Data:
        self.number += 1
        metadata = {**data["metadata"], "resourceVersion": str(self.number)}
        data = {**data, "metadata": metadata}
        self._of(resource).append(Revision(self.number, type_, key, data, old))
        if type_ is EventType.DELETED:
            del self._objects(resource)[key]
        else:
            self._objects(resource)[key] = data
        return data


def _outcome(changes: Iterable[Revision]) -> dict[Key, Data]:
    state: dict[Key, Data] = {}
    for change in changes:
        if change.type is EventType.DELETED:
            del state[change.key]
        else:
            state[change.key] = change.data
    return state


def _key(thing: Data) -> Key:
    return Key(thing["metadata"].get("namespace", ""), thing["metadata"]["name"])


def _merged(old: Any, changes: Any) -> Any:
    """A JSON merge patch: None removes, objects are merged, everything else replaces."""
    if not isinstance(changes, dict):
        return changes
    base = old if isinstance(old, dict) else {}
    kept = {name: value for name, value in base.items() if name not in changes}
    new = {
        name: _merged(base.get(name), value) for name, value in changes.items() if value is not None
    }
    return {**kept, **new}


def _status(code: int, message: str) -> Status:
    return Status(status="Failure", code=code, message=message)
