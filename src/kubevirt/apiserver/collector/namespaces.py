"""The end of namespaces: they are emptied, say what holds them up, and go when nothing is left.

In Kubernetes' order: pods first, and nothing else while one of them is still there, since what runs may
need its secrets to end well; then all other kinds. Who is held up by a finalizer is waited for: its going
is an event like any other.
"""

from collections import Counter
from typing import Any, Final

from kubevirt.apiserver.collector import conditions, traits
from kubevirt.apiserver.collector.conditions import Remains
from kubevirt.apiserver.collector.contents import Contents, Left
from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.collector.journal import Journal
from kubevirt.apiserver.collector.queue import Queue
from kubevirt.apiserver.collector.times import parsed
from kubevirt.apiserver.collector.traits import Place
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.rules.namespaces import FINALIZER
from kubevirt.apiserver.registry.stored import object_of
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.storage.records import Entry, Event

Object = dict[str, Any]

WORKERS: Final = 4
SETTLE_S: Final = 0.1
"""Between two looks at what remains: whoever frees a thousand objects does not have them counted a
thousand times."""


class Namespaces:
    def __init__(self, registry: Registry, journal: Journal) -> None:
        self._registry = registry
        self._controller = Controller(registry, journal, "namespace-controller")
        self._contents = Contents(registry, self._controller)
        self._kind = registry.catalog.namespaces
        self._pods = registry.catalog.kind("", "pods")
        self._services = registry.catalog.kind("apiregistration.k8s.io", "apiservices")
        self._queue = Queue(registry.clock, "emptying of namespaces")
        self._going: set[str] = set()

    async def load(self, at: int) -> None:
        self._going.clear()
        async for chunk in self._registry.store.scan(self._kind.prefix, at=at):
            for entry in chunk:
                self._see(entry.key, entry)

    def observe(self, event: Event) -> None:
        if event.key.startswith(self._kind.prefix):
            self._see(event.key, event.entry)
        elif self._going:
            self._see_content(event.key)

    def _see(self, key: str, entry: Entry | None) -> None:
        name = key.removeprefix(self._kind.prefix)
        if entry is None:
            self._going.discard(name)
        elif traits.is_going(entry.value):
            self._going.add(name)
            self._queue.add(name)

    def _see_content(self, key: str) -> None:
        if key.startswith(self._services.prefix):
            for name in self._going:
                self._queue.add(name)
        elif (name := Place.of(key).namespace) in self._going:
            self._queue.add(name)

    async def run(self) -> None:
        await self._queue.run(self._look_at, WORKERS)

    async def _look_at(self, name: str) -> bool:
        namespace = await self._read(name)
        if namespace is None or not namespace["metadata"].get("deletionTimestamp"):
            return True
        if not namespace.get("spec", {}).get("finalizers"):
            return True
        emptied = _Emptied(self._age_s(namespace))
        await self._empty(name, emptied)
        await self._tell(namespace, emptied.remains())
        if emptied.failures or emptied.undiscovered:
            return False
        if not emptied.count:
            await self._let_go(name)
            return True
        if emptied.grace_s:
            # When it is over, and nobody has said that they are gone, something is wrong.
            self._queue.add_after(name, emptied.grace_s + 1)
        await self._registry.clock.sleep(SETTLE_S)
        return True

    async def _read(self, name: str) -> Object | None:
        entry = await self._registry.store.get(self._kind.key("", name))
        return object_of(entry, "v1") if entry else None

    def _age_s(self, namespace: Object) -> float:
        """Since its deletion began."""
        began = parsed(namespace["metadata"]["deletionTimestamp"])
        return (self._registry.clock.now() - began).total_seconds()

    async def _empty(self, name: str, emptied: "_Emptied") -> None:
        emptied.undiscovered = await self._undiscovered()
        pods = await self._contents.delete(self._pods, name)
        emptied.add(self._pods, name, pods, is_told=False)
        if pods.objects:
            return
        for kind in self._contents.kinds:
            if kind is not self._pods:
                emptied.add(kind, name, await self._contents.delete(kind, name))

    async def _undiscovered(self) -> list[str]:
        """Group versions of other servers that are away: what they keep in the namespace is unknown."""
        found = []
        async for chunk in self._registry.store.scan(self._services.prefix):
            for entry in chunk:
                service = object_of(entry, "")
                if service.get("spec", {}).get("service") and not _is_available(service):
                    spec = service["spec"]
                    group = f"{spec['group']}/{spec['version']}"
                    found.append(f"{group}: stale GroupVersion discovery: {group}")
        return found

    async def _tell(self, namespace: Object, remains: Remains) -> None:
        old = namespace.get("status", {}).get("conditions") or []
        new = conditions.updated(old, remains, self._registry.now())
        if is_same(old, new):
            return
        name, version = (namespace["metadata"][each] for each in ("name", "resourceVersion"))
        patch = {"metadata": {"resourceVersion": version}, "status": {"conditions": new}}
        await self._controller.merge(self._kind, "", name, patch, "status")

    async def _let_go(self, name: str) -> None:
        namespace = await self._read(name)
        if namespace is None:
            return
        kept = [each for each in namespace["spec"].get("finalizers", ()) if each != FINALIZER]
        emptied = {**namespace, "spec": {**namespace["spec"], "finalizers": kept}}
        await self._controller.replace(self._kind, emptied, "finalize")


class _Emptied:
    """What one attempt has come to."""

    def __init__(self, age_s: float) -> None:
        """`age_s` is for how long the namespace has been going."""
        self.undiscovered: list[str] = []
        self.failures: list[str] = []
        self.count = 0
        self.grace_s = 0.0
        self._age_s = age_s
        self._objects: dict[str, int] = {}
        self._finalizers: Counter[str] = Counter()

    def add(self, kind: Kind, namespace: str, left: Left, *, is_told: bool = True) -> None:
        """`is_told` unless Kubernetes keeps silent about it."""
        self.count += left.objects
        grace_s = max(left.grace_s - self._age_s, 0)
        self.grace_s = max(self.grace_s, grace_s)
        if left.failure:
            self.failures.append(left.failure)
        elif left.objects and not left.finalizers and not grace_s:
            about = f"{kind.group}/{kind.storage_version.name}, Resource={kind.names.plural}"
            self.failures.append(
                f"unexpected items still remain in namespace: {namespace} for gvr: {about}"
            )
        if left.objects and not left.failure and is_told:
            self._objects[f"{kind.names.plural}.{kind.group}"] = left.objects
            self._finalizers.update(left.finalizers)

    def remains(self) -> Remains:
        return Remains(
            undiscovered=self.undiscovered,
            failures=self.failures,
            objects=self._objects,
            finalizers=self._finalizers,
        )


def _is_available(service: Object) -> bool:
    return any(
        each.get("type") == "Available" and each.get("status") == "True"
        for each in service.get("status", {}).get("conditions") or ()
    )
