"""APIServices of what is served here: every version of every group has one, that says so.

Those of the built-in groups are put right once, at the start; those of CRDs always. One that lost the
label belongs to whoever took it away: Kubernetes leaves it alone, and so do we.

    what is there            nobody serves it here   a built-in group does   a CRD does
    nothing                  -                       made at the start       made
    without the label        -                       -                       -
    labelled `onstart`       deleted at the start    put right at the start  -
    labelled `true`          deleted                 -                       put right
"""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from kubevirt.apiserver.aggregation import availability, priorities, registration
from kubevirt.apiserver.aggregation.following import Changes
from kubevirt.apiserver.aggregation.priorities import Priority
from kubevirt.apiserver.aggregation.writing import OwnWrites
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.storage.records import Entry
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

Object = dict[str, Any]

LABEL: Final = "kube-aggregator.kubernetes.io/automanaged"
AT_START: Final = "onstart"
ALWAYS: Final = "true"


class Served(NamedTuple):
    """A version of a group that is served here."""

    group: str
    version: str
    priority: Priority

    @property
    def name(self) -> str:
        """Of its APIService."""
        return f"{self.version}.{self.group}"

    @property
    def spec(self) -> Object:
        return {
            **({"group": self.group} if self.group else {}),
            "version": self.version,
            "groupPriorityMinimum": self.priority.group,
            "versionPriority": self.priority.version,
        }


class _Version(msgspec.Struct):
    name: str
    served: bool = False


class _Spec(msgspec.Struct):
    group: str
    versions: list[_Version]


class _Definition(msgspec.Struct):
    spec: _Spec


_definition: Final = msgspec.json.Decoder(_Definition)


class LocalApiServices:
    def __init__(self, registry: Registry) -> None:
        self._store = registry.store
        self._now = registry.now
        self._kind = registry.catalog.kind("apiregistration.k8s.io", "apiservices")
        self._writes = OwnWrites(registry, self._kind)
        self._by_definition: dict[str, frozenset[Served]] = {}
        self._builtin = {each.name: each for each in _builtin(registry.catalog)}

    async def start(self, definitions: Changes) -> None:
        """What is done once. `definitions` are all CRDs."""
        self._learn(definitions)
        page = await self._store.list(self._kind.prefix)
        there = {entry.key.removeprefix(self._kind.prefix): entry for entry in page.entries}
        custom = self._custom
        async with asyncio.TaskGroup() as tasks:  # together, so that they are one write to the disk
            for name in {*there, *self._builtin, *custom}:
                entry, wanted = there.get(name), self._builtin.get(name)
                if wanted:
                    settled = self._settle(entry, wanted, AT_START)
                else:
                    settled = self._settle(entry, custom.get(name), ALWAYS, is_start=True)
                tasks.create_task(settled)

    async def definitions_changed(self, changes: Changes) -> None:
        before = self._custom
        self._learn(changes)
        after = self._custom
        for name in before.keys() ^ after.keys():
            entry = await self._store.get(self._kind.key("", name))
            await self._settle(entry, after.get(name), ALWAYS)

    async def changed(self, changes: Changes) -> None:
        """APIServices are as given, or gone."""
        for key, entry in changes.items():
            name = key.removeprefix(self._kind.prefix)
            # Those of built-in groups were put right at the start.
            wanted = self._builtin.get(name) or self._custom.get(name)
            if entry or name not in self._builtin:
                await self._settle(entry, wanted, ALWAYS)

    def _learn(self, definitions: Changes) -> None:
        for key, entry in definitions.items():
            if entry is None:
                self._by_definition.pop(key, None)
            else:
                self._by_definition[key] = frozenset(_versions(entry))

    @property
    def _custom(self) -> Mapping[str, Served]:
        served = (each for found in self._by_definition.values() for each in found)
        return {each.name: each for each in served if each.name not in self._builtin}

    async def _settle(
        self, entry: Entry | None, wanted: Served | None, label: str, *, is_start: bool = False
    ) -> None:
        try:
            if entry is None:
                if wanted:
                    await self._make(wanted, label)
                return
            object_ = self._writes.read(entry)
            mark = (object_["metadata"].get("labels") or {}).get(LABEL)
            if wanted is None and (mark == ALWAYS or (mark == AT_START and is_start)):
                await self._writes.delete(entry)
            elif wanted and mark == label and object_.get("spec") != wanted.spec:
                await self._writes.change({**object_, "spec": wanted.spec}, entry)
            else:
                await self._say_local(entry)
        except (Refusal, Retry) as error:  # its next change comes by here again
            log.info("an APIService was not put right", error=error)

    async def _make(self, wanted: Served, label: str) -> None:
        metadata = {"name": wanted.name, "labels": {LABEL: label}}
        await self._writes.create({"metadata": metadata, "spec": wanted.spec})

    async def _say_local(self, entry: Entry | None) -> None:
        """Of one that was served elsewhere before."""
        if entry is None or registration.read(entry.value).service:
            return
        said = availability.changed(self._writes.read(entry), availability.LOCAL, self._now())
        if said:
            await self._writes.change(said, entry, "status")


def _builtin(catalog: Catalog) -> Iterator[Served]:
    for group in catalog.groups.values():
        priority = priorities.builtin(group.name)
        if priority and group.name != priorities.FIRST_GROUP:
            yield from (Served(group.name, version, priority) for version in group.versions)


def _versions(definition: Entry) -> Iterator[Served]:
    try:
        spec = _definition.decode(definition.value).spec
    except msgspec.ValidationError:  # from another time, and served by nobody
        return
    for version in spec.versions:
        if version.served:
            yield Served(spec.group, version.name, priorities.OF_CUSTOM)
