"""A small world for the collector: a registry on a store in memory, under virtual time.

async with World(clock) as world:
    owner = await world.create("owner")
    await world.create("part", owner)
    await world.delete("owner")
    await world.settle()
    assert await world.names() == set()
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self

from kubevirt.apiserver.collector.collector import Collector, CollectorSettings
from kubevirt.apiserver.collector.journal import Journal
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry import creating, deleting, patching
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.chance import TrueChance
from kubevirt.apiserver.registry.definitions import Definitions
from kubevirt.apiserver.registry.identity import SERVER
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.stored import object_of
from kubevirt.apiserver.storage.memory import MemoryDisk, memory_store
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background

Object = dict[str, Any]

HOME = "home"
HOLD = "example.org/hold"


def reference(owner: Object, **more: Any) -> Object:
    """To an owner, from one of its dependants."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        **more,
    }


class World:
    def __init__(
        self,
        clock: Clock,
        settings: CollectorSettings | None = None,
        store: StoreSettings | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.clock = clock
        self._journal = journal
        self.disk = MemoryDisk()
        self._settings = settings or CollectorSettings()
        self._store_settings = store
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def start(self, *, collects: bool = True) -> None:
        """On what a process before it has left."""
        self.registry = await self._stack.enter_async_context(self._registry())
        if await self.get("namespaces", HOME, "") is None:
            await self.make("namespaces", {"metadata": {"name": HOME}}, "")
        if collects:
            await self.collect()

    async def collect(self) -> None:
        collector = Collector(self.registry, self._settings, self._journal)
        await collector.prepare()
        await self._stack.enter_async_context(background(collector.run()))

    async def crash(self) -> None:
        """Ends everything but what is on disk."""
        await self._stack.aclose()

    @asynccontextmanager
    async def _registry(self) -> AsyncIterator[Registry]:
        async with memory_store(
            self.disk, clock=self.clock, settings=self._store_settings
        ) as store:
            registry = Registry(store, Catalog(), clock=self.clock, chance=TrueChance())
            definitions = Definitions(registry)
            await definitions.load()
            async with background(definitions.run()):
                yield registry

    async def settle(self) -> None:
        """Until nothing is left to do: every pause that the collector makes is shorter."""
        await self.clock.sleep(120)

    # What people do

    def kind(self, plural: str) -> Kind:
        return next(each for each in self.registry.catalog.kinds if each.names.plural == plural)

    def call(
        self, verb: str, plural: str, name: str = "", namespace: str = HOME, subresource: str = ""
    ) -> Call:
        kind = self.kind(plural)
        return Call(
            verb=verb,
            kind=kind,
            version=kind.storage_version,
            identity=SERVER,
            namespace=namespace if kind.namespaced else "",
            name=name,
            subresource=subresource,
            user_agent="tests",
            warnings=[],
        )

    async def make(self, plural: str, object_: Object, namespace: str = HOME) -> Object:
        call = self.call("create", plural, namespace=namespace)
        named = {"apiVersion": call.api_version, "kind": call.kind.names.kind, **object_}
        await creating.create(self.registry, call, Body(value=named))
        made = await self.get(plural, object_["metadata"]["name"], namespace)
        assert made is not None
        return made

    async def create(
        self,
        name: str,
        *owners: Object,
        plural: str = "configmaps",
        namespace: str = HOME,
        finalizers: Iterable[str] = (),
        blocks: bool = True,
    ) -> Object:
        """An object that belongs to those owners."""
        references = [
            each if "uid" in each else reference(each, blockOwnerDeletion=blocks) for each in owners
        ]
        metadata = {"name": name, "ownerReferences": references, "finalizers": list(finalizers)}
        return await self.make(plural, {"metadata": metadata}, namespace)

    async def patch(
        self, name: str, metadata: Object, plural: str = "configmaps", namespace: str = HOME
    ) -> None:
        call = self.call("patch", plural, name, namespace)
        body = Body(value={"metadata": metadata})
        await patching.patch(self.registry, call, patching.MERGE_PATCH, body)

    async def delete(
        self,
        name: str,
        policy: str = "Background",
        plural: str = "configmaps",
        namespace: str = HOME,
    ) -> None:
        call = self.call("delete", plural, name, namespace)
        await deleting.delete(self.registry, call, {"propagationPolicy": policy})

    # What can be seen

    async def get(self, plural: str, name: str, namespace: str = HOME) -> Object | None:
        call = self.call("get", plural, name, namespace)
        entry = await self.registry.store.get(call.key)
        return object_of(entry, call.api_version) if entry else None

    async def names(self, plural: str = "configmaps", namespace: str = HOME) -> set[str]:
        """Of all that is there and was not put there by the collector itself."""
        prefix = self.call("list", plural, namespace=namespace).prefix
        page = await self.registry.store.list(prefix)
        found = {entry.key.rpartition("/")[2] for entry in page.entries}
        return found - {"kube-root-ca.crt"}

    async def owners(self, name: str, plural: str = "configmaps") -> list[str]:
        found = await self.get(plural, name)
        assert found is not None
        return [each["name"] for each in found["metadata"].get("ownerReferences") or ()]
