"""An informer: a local copy of a collection that follows the server, and tells what changes.

    vmis = Informer(client, VIRTUAL_MACHINE_INSTANCES.read_as(Vmi), clock=clock,
                    indexes={"node": lambda vmi: vmi.status.node_name})
    vmis.add_handler(lambda change: queue.add(change.key))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(vmis.run())
        await vmis.wait_synced()
        here = vmis.by_index("node", "node01")

Reading never waits and never copies: objects are frozen, and the one in the cache is the one you get.
What is kept of an object is what the resource's type declares; `resource.metadata_only` keeps the
metadata and asks the server to send nothing else.

Handlers hear every transition of the cache once and in order, right after it happened, so what they
read is what they were told. A handler is a plain function that returns quickly, mostly by putting a key
into a queue. How the cache is kept right is in `cache/reflector.py`, what it promises in `cache/store.py`.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.kube.cache.reflector import Reflector, ReflectorSettings, Scope
from kubevirt.kube.cache.store import OWNER, Cacheable, Change, IndexFunction, Store
from kubevirt.kube.key import Key
from kubevirt.kube.source import Source
from kubevirt.kube.watch import Undecodable

T = TypeVar("T", bound=Cacheable)

Handler = Callable[[Change[T]], None]

log = get_logger(__name__)


class Informer(Generic[T]):
    def __init__(
        self,
        source: Source,
        resource: Resource[T],
        *,
        clock: Clock,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        indexes: Mapping[str, IndexFunction[T]] = MappingProxyType({}),
        settings: ReflectorSettings | None = None,
        randomness: random.Random | None = None,
    ) -> None:
        self.resource = resource
        self._handlers: tuple[Handler[T], ...] = ()
        self._store = Store(resource.group_resource, indexes, self._tell)
        self._reflector = Reflector(
            source,
            resource,
            Scope(
                namespace=namespace, label_selector=label_selector, field_selector=field_selector
            ),
            self._store,
            clock=clock,
            settings=settings or ReflectorSettings(),
            randomness=randomness or random.Random(),  # noqa: S311  # spreads load, hides nothing
        )
        self._is_running = False

    async def run(self) -> None:
        """Follows the server until cancelled. Run again, it continues where it was."""
        if self._is_running:
            raise RuntimeError(f"the informer of {self.resource.group_resource} runs already")
        self._is_running = True
        try:
            await self._reflector.run()
        finally:
            self._is_running = False

    async def wait_synced(self) -> None:
        """Returns when the cache has first been complete. Before, "not there" means nothing."""
        await self._reflector.synced.wait()

    @property
    def is_synced(self) -> bool:
        return self._reflector.synced.is_open

    # Reading

    def get(self, key: Key) -> T | None:
        """The object, or None if there is none.

        Raises `UndecodableObject` if there is one that its type cannot hold: nobody shall take it
        for deleted, or act on an older version of it.
        """
        return self._store.get(key)

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[T]:
        """All objects, without a copy: take `list(informer)` to await in between."""
        return iter(self._store)

    def by_index(self, name: str, value: str) -> list[T]:
        """The objects that index `name` has under `value`, in the order they came to have it."""
        return self._store.by_index(name, value)

    def owned_by(self, uid: str) -> list[T]:
        """The objects whose controller, by ownerReference, has this UID."""
        return self._store.by_index(OWNER, uid)

    @property
    def unreadable(self) -> Mapping[Key, Undecodable]:
        """Objects that exist but do not fit the type. Lists and indexes show their last readable
        version, if there was one.
        """
        return self._store.unreadable

    # Following

    def add_handler(self, handler: Handler[T]) -> Callable[[], None]:
        """Calls `handler` for each object there is, as added, then for every change.

        Returns a function that ends it. An exception in a handler is a bug of its own: it is logged,
        and neither the cache nor other handlers notice.
        """
        self._handlers = (*self._handlers, handler)
        for thing in list(self._store):
            _call(handler, Change(None, thing))
        return lambda: self._remove_handler(handler)

    def _remove_handler(self, handler: Handler[T]) -> None:
        self._handlers = tuple(each for each in self._handlers if each is not handler)

    def _tell(self, change: Change[T]) -> None:
        for handler in self._handlers:
            _call(handler, change)

    # What there is to see: for probes, metrics and tests.

    @property
    def last_error(self) -> Exception | None:
        """Why the server cannot be followed now, or None. The informer keeps trying."""
        return self._reflector.last_error

    @property
    def resource_version(self) -> str | None:
        """How far the cache is."""
        return self._reflector.position

    @property
    def counts(self) -> Mapping[str, int]:
        """Totals since the start."""
        reflector = self._reflector
        return {
            "lists": reflector.lists,
            "watches": reflector.watches,
            "events": reflector.events,
            "replays": reflector.replays,
            "silences": reflector.silences,
            "failures": reflector.failures,
            "undecodable": self._store.times_unreadable,
        }


def _call(handler: Handler[T], change: Change[T]) -> None:
    try:
        handler(change)
    except Exception:
        log.exception("handler failed", key=str(change.key))
