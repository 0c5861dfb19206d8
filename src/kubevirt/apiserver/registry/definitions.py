"""CRDs at work: each is judged, served while it is established, and emptied before it goes.

Level-triggered: whatever lies in the store decides, at the start and after every change. The rules for
writing a CRD are in `rules/definitions.py`, how it becomes a kind in `kinds/custom.py`.
"""

import asyncio
from typing import Any

import msgspec

from kubevirt.apiserver.kinds import custom
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry import changing, deleting, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import SERVER
from kubevirt.apiserver.registry.options import DeleteOptions, WriteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.rules.definitions import CLEANUP
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.storage.errors import Compacted, Conflict, WatcherTooSlow
from kubevirt.apiserver.storage.records import Entry
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

Object = dict[str, Any]
MANAGER = "kube-apiserver"
"""Whose fields the conditions are, as in Kubernetes."""
RETRY_S = 1.0


class Definitions:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._kind = registry.catalog.kind("apiextensions.k8s.io", "customresourcedefinitions")
        self._seen = 0
        self._going: set[str] = set()
        self._to_judge: set[str] = set()

    async def load(self) -> None:
        """Serves what was established before the start."""
        self._seen = self._registry.store.revision
        async for chunk in self._registry.store.scan(self._kind.prefix, at=self._seen):
            for entry in chunk:
                self._serve(entry)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            while True:
                try:
                    await self._follow(tasks)
                except (Compacted, WatcherTooSlow) as error:
                    log.info("changes of CRDs were missed, all are read again", error=error)

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        page = await self._registry.store.list(self._kind.prefix)
        there = {entry.key.removeprefix(self._kind.prefix) for entry in page.entries}
        for gone in self._registry.catalog.names_of_customs - there:
            self._registry.catalog.remove(gone)
        for entry in page.entries:
            await self._look_at(entry.key, entry, tasks)
        with self._registry.store.watch(self._kind.prefix, after=page.revision) as watch:
            async for events in watch:
                # Only the last word on each counts.
                for event in {event.key: event for event in events}.values():
                    await self._look_at(event.key, event.entry, tasks)

    async def _look_at(self, key: str, entry: Entry | None, tasks: asyncio.TaskGroup) -> None:
        name = key.removeprefix(self._kind.prefix)
        if entry is None:
            self._registry.catalog.remove(name)
            return
        self._serve(entry)
        object_ = stored.object_of(entry, "apiextensions.k8s.io/v1")
        if not object_["metadata"].get("deletionTimestamp"):
            await self._judge(entry, object_, tasks)
        elif CLEANUP in (object_["metadata"].get("finalizers") or ()) and name not in self._going:
            self._going.add(name)
            tasks.create_task(self._empty(name))

    def _serve(self, entry: Entry) -> None:
        catalog = self._registry.catalog
        name = entry.key.removeprefix(self._kind.prefix)
        try:
            found = custom.read(entry.value)
        except msgspec.ValidationError as error:  # from another time: it must not end the server
            log.warning("a CRD cannot be read and is not served", crd=name, error=error)
            return
        known = catalog.custom(name)
        begins_to_go = known is not None and found.is_going and not known.is_going
        if known and (known.generation == found.generation or begins_to_go):
            # The same kind: whoever watches it goes on, and sees its objects go.
            found = msgspec.structs.replace(found, kind=known.kind)
        if found.is_established and found != known:
            catalog.put(name, found)

    async def _judge(self, entry: Entry, object_: Object, tasks: asyncio.TaskGroup) -> None:
        others = [each.kind for each in self._registry.catalog.customs]
        try:
            judged = custom.judged(object_, others, self._registry.now())
            if not is_same(judged, object_):
                await self._write(judged, entry, "status")
        except Conflict:
            return  # it is another one by now, and will be looked at again
        except Refusal as refusal:  # by a webhook, which may think better of it
            log.info("a CRD was judged in vain", crd=object_["metadata"]["name"], reason=refusal)
            if entry.key not in self._to_judge:
                self._to_judge.add(entry.key)
                tasks.create_task(self._judge_again(entry.key, tasks))
        except Exception as error:  # noqa: BLE001  # one that nobody can judge must not end the server
            log.warning("a CRD could not be judged", crd=object_["metadata"]["name"], error=error)

    async def _judge_again(self, key: str, tasks: asyncio.TaskGroup) -> None:
        await self._registry.clock.sleep(RETRY_S)
        self._to_judge.discard(key)
        await self._look_at(key, await self._registry.store.get(key), tasks)

    async def _write(self, object_: Object, entry: Entry, subresource: str = "") -> None:
        call = self._call(self._kind, object_["metadata"]["name"], subresource)
        made = await changing.store_change(
            self._registry, call, object_, entry, WriteOptions(manager=MANAGER)
        )
        if subresource and made.revision != entry.revision:
            # Served before anybody can read that it is.
            self._serve(Entry(entry.key, made.value, made.revision, entry.created))

    def _call(self, kind: Kind, name: str = "", subresource: str = "") -> Call:
        return Call(
            verb="update",
            kind=kind,
            version=kind.storage_version,
            identity=SERVER,
            name=name,
            subresource=subresource,
            user_agent=MANAGER,
        )

    # The end of a kind

    async def _empty(self, name: str) -> None:
        """Deletes all objects of a kind, waits until the last is gone, and lets its CRD go."""
        try:
            while not await self._is_emptied(name):
                await self._registry.clock.sleep(RETRY_S)
        finally:
            self._going.discard(name)

    async def _is_emptied(self, name: str) -> bool:
        try:
            known = self._registry.catalog.custom(name)
            if known is not None:
                await self._delete_all(known.kind)
                await self._until_empty(known.kind.prefix)
            entry = await self._registry.store.get(self._kind.key("", name))
            if entry is not None:
                await self._write(_released(entry), entry)
        except (Conflict, Retry) as error:
            log.info("the objects of a CRD are not gone yet", crd=name, reason=str(error))
            return False
        except Exception as error:  # noqa: BLE001  # as above: tried again, with a stack trace
            log.warning("a CRD could not be emptied", crd=name, error=error)
            return False
        return True

    async def _delete_all(self, kind: Kind) -> None:
        call = self._call(kind)
        async for chunk in self._registry.store.scan(kind.prefix):
            for entry in chunk:
                await deleting.delete_entry(
                    self._registry, call, entry, DeleteOptions(), is_admitted=False
                )

    async def _until_empty(self, prefix: str) -> None:
        store = self._registry.store
        page = await store.list(prefix, limit=1)
        with store.watch(prefix, after=page.revision) as watch:
            while page.entries:
                await anext(watch)
                page = await store.list(prefix, limit=1)


def _released(entry: Entry) -> Object:
    object_ = stored.object_of(entry, "apiextensions.k8s.io/v1")
    metadata = object_["metadata"]
    kept = [each for each in metadata.get("finalizers") or () if each != CLEANUP]
    return {**object_, "metadata": {**metadata, "finalizers": kept}}
