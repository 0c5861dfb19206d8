"""A list while it is being read: it changes the store whole, or not at all.

A list may break off, start over, or turn out to be older than what the store has seen; none of it may
show. So the objects are gathered here first. An object that the store has in the same version is
noted, not kept, and a list that only confirms the store costs no second copy of it.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from kubevirt.kube.cache.sharing import Sharing
from kubevirt.kube.cache.store import Cacheable, Store
from kubevirt.kube.key import Key
from kubevirt.kube.watch import Undecodable

T = TypeVar("T", bound=Cacheable)


class Snapshot(Generic[T]):
    def __init__(self, store: Store[T], sharing: Sharing) -> None:
        self._store = store
        self._sharing = sharing
        self._found: dict[Key, T | Undecodable] = {}
        self._has_nameless = False

    def __len__(self) -> int:
        return len(self._found)

    def add(self, item: T | Undecodable) -> None:
        key = Key.of(item)
        if not key.name:
            self._has_nameless = True
            return
        known = self._store.last_readable(key)
        if known is not None and _is_same(item, known):
            self._found[key] = known
        else:
            self._sharing.share(item)
            self._found[key] = item

    def remove(self, item: T | Undecodable) -> None:
        """It was deleted while the list was streamed."""
        self._found.pop(Key.of(item), None)

    def clear(self) -> None:
        """The server forgot the list and begins another."""
        self._found.clear()
        self._has_nameless = False

    def apply(self, batch: int, *, may_go_back: bool = False) -> Iterator[None]:
        """Makes the store equal to the list. Yields after each `batch`, for others to get their turn.

        What is new comes before what is gone: a reader in between sees too much rather than too
        little, and a controller that sees too much waits.
        """
        pending = 0
        for item in self._found.values():
            if isinstance(item, Undecodable):
                self._store.put_unreadable(item, may_go_back=may_go_back)
            else:
                self._store.put(item, may_go_back=may_go_back)
            pending += 1
            if pending % batch == 0:
                yield
        if self._has_nameless:
            return  # It may be any of those that seem to be missing.
        for key in [key for key in self._store.existing() if key not in self._found]:
            self._store.discard(key)
            pending += 1
            if pending % batch == 0:
                yield


def _is_same(item: Cacheable, known: Cacheable) -> bool:
    one, other = item.metadata, known.metadata
    return one.uid == other.uid and one.resource_version == other.resource_version
