"""Keeps what is decided on current with what is stored.

Level-triggered: whatever lies in the store decides, at the start and after every change. The roles that every cluster
has are made if they are missing, and those that are made of others are written as their parts change.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from kubevirt.apiserver.auth.authorization import INTERESTS, Authorization
from kubevirt.apiserver.auth.rbac import aggregation, defaults
from kubevirt.apiserver.auth.rbac.policy import CLUSTER_ROLES, GROUP
from kubevirt.apiserver.auth.rbac.rules import Rule
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry import changing, creating, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import SERVER
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.storage.errors import Compacted, Conflict, WatcherTooSlow
from kubevirt.apiserver.storage.records import Entry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

Object = dict[str, Any]
MANAGER = "kube-apiserver"


class AccessKeeper:
    def __init__(self, registry: Registry, authorization: Authorization) -> None:
        self._registry = registry
        self._authorization = authorization
        self._seen: dict[str, set[str]] = {}
        """The keys that were told of each kind."""
        self._cluster_roles: dict[str, Object] = {}

    async def load(self) -> None:
        """Before the first request: nobody is let in, or kept out, by half of the truth."""
        await self._make_defaults()
        for kind in self._kinds():
            await self._read_all(kind)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for kind in self._kinds():
                tasks.create_task(self._follow(kind))

    def _kinds(self) -> Iterable[Kind]:
        return [self._registry.catalog.kind(group, plural) for group, plural in INTERESTS]

    async def _follow(self, kind: Kind) -> None:
        while True:  # a watch ends with the store, or because it missed something
            revision = await self._read_all(kind)
            await self._gather(kind)
            try:
                with self._registry.store.watch(kind.prefix, after=revision) as watch:
                    async for events in watch:
                        for event in events:
                            self._tell(kind, event.key, event.entry)
                        await self._gather(kind)
            except (Compacted, WatcherTooSlow) as error:
                log.info("changes of access were missed, all is read again", error=error)

    async def _read_all(self, kind: Kind) -> int:
        page = await self._registry.store.list(kind.prefix)
        gone = self._seen.get(kind.prefix, set()) - {entry.key for entry in page.entries}
        for key in gone:
            self._tell(kind, key, None)
        for entry in page.entries:
            self._tell(kind, entry.key, entry)
        return page.revision

    def _tell(self, kind: Kind, key: str, entry: Entry | None) -> None:
        namespace, _, name = key.removeprefix(kind.prefix).rpartition("/")
        object_ = stored.object_of(entry, _version(kind)) if entry else None
        plural = kind.names.plural
        self._authorization.observe(kind.group, plural, namespace, name, object_)
        seen = self._seen.setdefault(kind.prefix, set())
        if object_ is None:
            seen.discard(key)
        else:
            seen.add(key)
        if plural == CLUSTER_ROLES:
            if object_ is None:
                self._cluster_roles.pop(name, None)
            else:
                self._cluster_roles[name] = object_

    # What is written

    async def _make_defaults(self) -> None:
        """Together, so that they are one write to the disk."""
        async with asyncio.TaskGroup() as tasks:
            for plural, object_ in defaults.objects():
                metadata = object_["metadata"]
                kind = self._registry.catalog.kind(GROUP, plural)
                key = kind.key(metadata.get("namespace", ""), metadata["name"])
                if await self._registry.store.get(key) is None:
                    tasks.create_task(self._make(kind, object_))

    async def _make(self, kind: Kind, object_: Object) -> None:
        call = _call("create", kind, object_["metadata"])
        call.name = ""
        await creating.store_new(self._registry, call, object_, WriteOptions(manager=MANAGER))

    async def _gather(self, kind: Kind) -> None:
        if kind.names.plural != CLUSTER_ROLES:
            return
        for name, rules in aggregation.changes(self._cluster_roles).items():
            await self._write_rules(kind, name, rules)

    async def _write_rules(self, kind: Kind, name: str, rules: Iterable[Rule]) -> None:
        entry = await self._registry.store.get(kind.key("", name))
        if entry is None:
            return
        new = {
            **stored.object_of(entry, _version(kind)),
            "rules": [rule.as_object() for rule in rules],
        }
        call = _call("update", kind, new["metadata"])
        wanted = WriteOptions(manager=aggregation.MANAGER)
        try:
            await changing.store_change(self._registry, call, new, entry, wanted)
        except (Conflict, Refusal) as error:  # its next change comes by here again
            log.info("a gathered role was not written", role=name, error=error)


def _version(kind: Kind) -> str:
    name = kind.storage_version.name
    return f"{kind.group}/{name}" if kind.group else name


def _call(verb: str, kind: Kind, metadata: Mapping[str, Any]) -> Call:
    return Call(
        verb=verb,
        kind=kind,
        version=kind.storage_version,
        identity=SERVER,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        user_agent=MANAGER,
    )
