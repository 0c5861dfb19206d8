"""The cache of an informer: objects by key and by index, moving forward only.

Every change is told to one listener, as the transition that it is: added, updated or deleted, with
the object before and after. The transitions in order are the store; whoever replays them has the same
objects. Three rules make that true:

- Identity is the UID. Another UID under a known name is a deletion, then an addition.
- Nothing goes back: an object with an older resource version than the known one changes nothing, and
  neither does the same version again.
- An object that its type cannot hold is unreadable. It has not been deleted, so nobody is told that it
  was: a controller that believes a pod to be gone starts another. What was known of it stays in lists
  and indexes, but `get` raises, so that nothing is decided from an old version in silence.

Objects are frozen and held once: readers get the object itself, an update replaces it. Who feeds the
store is in `informer.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar, cast

import msgspec

from kubevirt.api.meta import OwnerReference
from kubevirt.base.log import get_logger
from kubevirt.kube.cache.resource_version import is_older
from kubevirt.kube.errors import UndecodableObject
from kubevirt.kube.key import Key
from kubevirt.kube.watch import Undecodable

log = get_logger(__name__)


class Metadata(Protocol):
    """What a store reads of an object's metadata: a subset type may leave out all the rest."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str | None: ...
    @property
    def uid(self) -> str: ...
    @property
    def resource_version(self) -> str | None: ...
    @property
    def owner_references(self) -> tuple[OwnerReference, ...]: ...


class Cacheable(Protocol):
    @property
    def metadata(self) -> Metadata: ...


T = TypeVar("T", bound=Cacheable)

IndexFunction = Callable[[T], str | tuple[str, ...] | None]
"""Under which value, or values, an object is found. Pure: it is asked again when the object leaves."""

OWNER = "owner"
"""The index that every store has: the UID of the controller in the object's ownerReferences."""


class Change(msgspec.Struct, Generic[T], frozen=True):
    """One transition of one object. `old` is None when it was added, `new` when it was deleted."""

    old: T | None
    new: T | None

    @property
    def object(self) -> T:
        """The object as it is now, or as it was last."""
        return cast("T", self.old if self.new is None else self.new)

    @property
    def key(self) -> Key:
        return Key.of(self.object)

    @property
    def is_added(self) -> bool:
        return self.old is None

    @property
    def is_deleted(self) -> bool:
        return self.new is None


class Store(Generic[T]):
    def __init__(
        self,
        what: str,
        indexes: Mapping[str, IndexFunction[T]],
        tell: Callable[[Change[T]], None],
    ) -> None:
        self.times_unreadable = 0
        self._what = what
        self._tell = tell
        self._objects: dict[Key, T] = {}
        self._unreadable: dict[Key, Undecodable] = {}
        self._indexes = {
            name: _Index(name, function)
            for name, function in {**indexes, OWNER: controller_uid}.items()
        }

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        """All objects, without a copy: do not await in between."""
        return iter(self._objects.values())

    @property
    def unreadable(self) -> Mapping[Key, Undecodable]:
        return self._unreadable

    def get(self, key: Key) -> T | None:
        """The object, or None if there is none. Raises `UndecodableObject` if it cannot be read."""
        if self._unreadable and key in self._unreadable:
            raise UndecodableObject(f"{self._what} {key}", self._unreadable[key].error)
        return self._objects.get(key)

    def last_readable(self, key: Key) -> T | None:
        return self._objects.get(key)

    def by_index(self, name: str, value: str) -> list[T]:
        return [self._objects[key] for key in self._indexes[name].find(value)]

    def existing(self) -> list[Key]:
        """The keys of all that is on the server, readable or not, in the order they came."""
        return list(dict.fromkeys((*self._objects, *self._unreadable)))

    def put(self, new: T, *, may_go_back: bool = False) -> None:
        """The object is like this now, unless a newer version is known."""
        key = Key.of(new)
        known = self._newest(key)
        if known is not None and not may_go_back and _is_stale(new.metadata, known):
            return
        self._unreadable.pop(key, None)
        old = self._objects.get(key)
        if old is None:
            self._insert(key, new)
        elif old.metadata.uid != new.metadata.uid:
            self._drop(key, old)
            self._insert(key, new)
        elif old.metadata.resource_version != new.metadata.resource_version:
            self._objects[key] = new
            for index in self._indexes.values():
                index.move(key, old, new)
            self._tell(Change(old, new))

    def put_unreadable(self, new: Undecodable, *, may_go_back: bool = False) -> None:
        """The object exists but cannot be read. Logged once per version."""
        key = Key.of(new)
        known = self._newest(key)
        if known is not None:
            if known.resource_version == new.metadata.resource_version:
                return
            if not may_go_back and _is_stale(new.metadata, known):
                return
            if known.uid != new.metadata.uid:
                self.discard(key)
        self._unreadable[key] = new
        self.times_unreadable += 1
        log.warning(
            "object cannot be read",
            resource=self._what,
            key=str(key),
            resource_version=new.metadata.resource_version,
            reason=new.error,
        )

    def remove(self, gone: Cacheable) -> None:
        """The server deleted this object, and its resource version says when."""
        key = Key.of(gone)
        known = self._newest(key)
        if known is not None and _is_end_of(known, gone.metadata):
            self.discard(key)

    def discard(self, key: Key) -> None:
        """There is no object of this name any more."""
        self._unreadable.pop(key, None)
        old = self._objects.get(key)
        if old is not None:
            self._drop(key, old)

    def _newest(self, key: Key) -> Metadata | None:
        known = self._unreadable.get(key) or self._objects.get(key)
        return None if known is None else known.metadata

    def _insert(self, key: Key, new: T) -> None:
        self._objects[key] = new
        for index in self._indexes.values():
            index.move(key, None, new)
        self._tell(Change(None, new))

    def _drop(self, key: Key, old: T) -> None:
        del self._objects[key]
        for index in self._indexes.values():
            index.move(key, old, None)
        self._tell(Change(old, None))


class _Index(Generic[T]):
    """Keys by a value of the object. Most values have one key, which then needs no collection of its own."""

    def __init__(self, name: str, function: IndexFunction[T]) -> None:
        self._name = name
        self._function = function
        self._keys: dict[str, Key | dict[Key, None]] = {}  # a dict keeps its order, a set does not

    def find(self, value: str) -> Iterable[Key]:
        found = self._keys.get(value)
        if found is None:
            return ()
        return (found,) if isinstance(found, Key) else found

    def move(self, key: Key, old: T | None, new: T | None) -> None:
        before = self._values(old) if old is not None else ()
        after = self._values(new) if new is not None else ()
        if before == after:
            return
        for value in before:
            self._take(value, key)
        for value in after:
            self._give(value, key)

    def _values(self, thing: T) -> tuple[str, ...]:
        try:
            values = self._function(thing)
        except Exception:
            # Somebody's index is broken; the cache and everybody else's index are not.
            log.exception("index failed", index=self._name, key=str(Key.of(thing)))
            return ()
        if values is None:
            return ()
        return (values,) if isinstance(values, str) else values

    def _give(self, value: str, key: Key) -> None:
        known = self._keys.get(value)
        if known is None:
            self._keys[value] = key
        elif isinstance(known, dict):
            known[key] = None
        elif known != key:
            self._keys[value] = {known: None, key: None}

    def _take(self, value: str, key: Key) -> None:
        known = self._keys.get(value)
        if isinstance(known, dict):
            known.pop(key, None)
            if len(known) == 1:
                self._keys[value] = next(iter(known))
        elif known == key:
            del self._keys[value]


def controller_uid(thing: Cacheable) -> str | None:
    """The UID of the one owner that controls `thing`."""
    for owner in thing.metadata.owner_references:
        if owner.controller:
            return owner.uid
    return None


def _is_stale(new: Metadata, known: Metadata) -> bool:
    return is_older(new.resource_version, known.resource_version)


def _is_end_of(known: Metadata, gone: Metadata) -> bool:
    """A deletion ends the object it names. It also proves that an older one of that name has ended,
    but says nothing of one that came after.
    """
    if known.uid == gone.uid:
        return not is_older(gone.resource_version, known.resource_version)
    return is_older(known.resource_version, gone.resource_version)
