"""The contents of a namespace: deleted kind by kind, and what is left of them counted."""

import asyncio
from collections import Counter
from collections.abc import Iterable

import msgspec

from kubevirt.apiserver.collector import traits
from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry import deleting, options
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.storage.records import Entry
from kubevirt.base.errors import Retry


class Left(msgspec.Struct, kw_only=True):
    """Of one kind."""

    objects: int = 0
    finalizers: Counter[str] = msgspec.field(default_factory=Counter)
    grace_s: int = 0
    """The longest that one of them may still take by itself."""
    failure: str = ""


class Contents:
    def __init__(self, registry: Registry, controller: Controller) -> None:
        self._registry = registry
        self._controller = controller

    @property
    def kinds(self) -> Iterable[Kind]:
        return [
            kind
            for kind in self._registry.catalog.kinds
            if kind.namespaced and "delete" in kind.verbs
        ]

    async def delete(self, kind: Kind, namespace: str) -> Left:
        """Deletes all objects of a kind; tells what has not gone at once."""
        call = self._controller.call("deletecollection", kind, namespace)
        failure = await self._delete_all(call)
        left = await self._count(call)
        left.failure = failure
        return left

    async def _delete_all(self, call: Call) -> str:
        """Why something could not be deleted, if so."""
        wanted = options.of_delete(call, {"propagationPolicy": "Background"})
        failures: list[str] = []

        async def delete(entry: Entry) -> None:
            try:
                await deleting.delete_entry(self._registry, call, entry, wanted)
            except (Refusal, Retry) as error:
                failures.append(str(error))

        async for chunk in self._registry.store.scan(call.prefix):
            # Together: they share a commit to the disk.
            with self._controller.noted(call):
                async with asyncio.TaskGroup() as tasks:
                    for entry in chunk:
                        tasks.create_task(delete(entry))
        return failures[0] if failures else ""

    async def _count(self, call: Call) -> Left:
        left = Left()
        async for chunk in self._registry.store.scan(call.prefix):
            for entry in chunk:
                thing = traits.read(entry.value)
                left.objects += 1
                left.finalizers.update(thing.holds)
                left.grace_s = max(left.grace_s, thing.deletion_grace_period_seconds or 0)
        return left
