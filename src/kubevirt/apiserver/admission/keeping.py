"""The configurations of webhooks, compiled as they change.

Level-triggered: whatever lies in the store decides, at the start and after every change. Webhooks stand in
the order of their configurations' names, and within one as it lists them.
"""

import asyncio
from typing import Final

import msgspec

from kubevirt.apiserver.admission.hooks import Hook, hooks_of
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.storage.errors import Compacted, WatcherTooSlow
from kubevirt.apiserver.storage.records import Entry
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.log import get_logger

log = get_logger(__name__)

GROUP: Final = "admissionregistration.k8s.io"


class Configurations:
    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._mutating = _Kept(store, catalog.kind(GROUP, "mutatingwebhookconfigurations"))
        self._validating = _Kept(store, catalog.kind(GROUP, "validatingwebhookconfigurations"))

    @property
    def mutating(self) -> tuple[Hook, ...]:
        return self._mutating.hooks

    @property
    def validating(self) -> tuple[Hook, ...]:
        return self._validating.hooks

    async def load(self) -> None:
        """Before the first request: nothing slips past a webhook."""
        for kept in (self._mutating, self._validating):
            await kept.load()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for kept in (self._mutating, self._validating):
                tasks.create_task(kept.run())


class _Kept:
    """Those of one kind."""

    def __init__(self, store: Store, kind: Kind) -> None:
        self._store = store
        self._kind = kind
        self._compiled: dict[str, tuple[Hook, ...]] = {}
        self.hooks: tuple[Hook, ...] = ()

    async def load(self) -> int:
        page = await self._store.list(self._kind.prefix)
        self._compiled = {}
        for entry in page.entries:
            self._look_at(entry.key, entry)
        self._put_in_order()
        return page.revision

    async def run(self) -> None:
        while True:  # a watch ends with the store, or because it missed something
            revision = await self.load()
            try:
                with self._store.watch(self._kind.prefix, after=revision) as watch:
                    async for events in watch:
                        for event in events:
                            self._look_at(event.key, event.entry)
                        self._put_in_order()
            except (Compacted, WatcherTooSlow) as error:
                log.info("changes of webhooks were missed, all are read again", error=error)

    def _look_at(self, key: str, entry: Entry | None) -> None:
        name = key.removeprefix(self._kind.prefix)
        self._compiled.pop(name, None)
        if entry is None:
            return
        try:
            self._compiled[name] = tuple(hooks_of(name, entry.value))
        except (msgspec.ValidationError, ValueError) as error:  # from another time
            log.warning(
                "webhooks that cannot be read are not asked", configuration=name, error=error
            )

    def _put_in_order(self) -> None:
        self.hooks = tuple(hook for _, hooks in sorted(self._compiled.items()) for hook in hooks)
