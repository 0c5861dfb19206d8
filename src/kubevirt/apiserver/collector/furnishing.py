"""What every namespace has: a service account for its pods, and what they need to trust this server.

Put back when it was changed or deleted, for as long as the namespace stays.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Final

from kubevirt.apiserver.collector import traits
from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.collector.journal import Journal
from kubevirt.apiserver.collector.queue import Queue
from kubevirt.apiserver.collector.traits import Place
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.stored import object_of
from kubevirt.apiserver.storage.records import Event
from kubevirt.base.errors import Retry

Object = dict[str, Any]

WORKERS: Final = 4
PREPARED_S: Final = 2.0
"""For how long a start waits for it: a webhook may hang."""
ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"
_DESCRIPTION: Final = "kubernetes.io/description"
_WORDS: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints "
    "such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across "
    "distributions of Kubernetes clusters."
)


class Furnishing:
    def __init__(self, registry: Registry, journal: Journal, root_ca: str) -> None:
        """`root_ca` vouches for this server, PEM; nothing is published if it is empty."""
        self._registry = registry
        self._root_ca = root_ca
        catalog = registry.catalog
        self._namespaces = catalog.namespaces
        self._accounts = catalog.kind("", "serviceaccounts")
        self._config_maps = catalog.kind("", "configmaps")
        self._account_controller = Controller(registry, journal, "service-account-controller")
        self._publisher = Controller(registry, journal, "root-ca-cert-publisher")
        self._queue = Queue(registry.clock, "furnishing of namespaces")

    async def prepare(self) -> None:
        """All namespaces at once, so that they share a commit to the disk; what cannot be done now, or
        not in time, will be done later.
        """
        page = await self._registry.store.list(self._namespaces.prefix)
        with suppress(TimeoutError):
            async with self._registry.clock.timeout(PREPARED_S), asyncio.TaskGroup() as tasks:
                for entry in page.entries:
                    name = entry.key.removeprefix(self._namespaces.prefix)
                    tasks.create_task(self._try_to_prepare(name))

    async def _try_to_prepare(self, namespace: str) -> None:
        with suppress(Refusal, Retry):
            await self._look_at(namespace)

    async def load(self, at: int) -> None:
        async for chunk in self._registry.store.scan(self._namespaces.prefix, at=at):
            for entry in chunk:
                self._queue.add(entry.key.removeprefix(self._namespaces.prefix))

    def observe(self, event: Event) -> None:
        key = event.key
        if key.startswith(self._namespaces.prefix):
            if event.entry:
                self._queue.add(key.removeprefix(self._namespaces.prefix))
        elif key.endswith(ACCOUNT) and key.startswith(self._accounts.prefix):
            if event.entry is None:
                self._queue.add(Place.of(key).namespace)
        elif key.endswith(ROOT_CA) and key.startswith(self._config_maps.prefix):
            self._queue.add(Place.of(key).namespace)

    async def run(self) -> None:
        await self._queue.run(self._look_at, WORKERS)

    async def _look_at(self, namespace: str) -> bool:
        store = self._registry.store
        home = await store.get(self._namespaces.key("", namespace))
        if home is None or (
            traits.is_going(home.value) and traits.read(home.value).deletion_timestamp
        ):
            return True
        if await store.get(self._accounts.key(namespace, ACCOUNT)) is None:
            await self._give_account(namespace)
        if self._root_ca:
            await self._publish(namespace)
        return True

    async def _give_account(self, namespace: str) -> None:
        account = {"metadata": {"name": ACCOUNT, "namespace": namespace}}
        await _unless_late(self._account_controller.create(self._accounts, namespace, account))

    async def _publish(self, namespace: str) -> None:
        data = {"ca.crt": self._root_ca}
        described = {_DESCRIPTION: _WORDS}
        entry = await self._registry.store.get(self._config_maps.key(namespace, ROOT_CA))
        if entry is None:
            metadata = {"name": ROOT_CA, "namespace": namespace, "annotations": described}
            made = {"metadata": metadata, "data": data}
            await _unless_late(self._publisher.create(self._config_maps, namespace, made))
            return
        found = object_of(entry, "v1")
        annotations = found["metadata"].get("annotations") or {}
        if found.get("data") == data and annotations.get(_DESCRIPTION):
            return
        metadata = {**found["metadata"], "annotations": annotations | described}
        changed = {**found, "metadata": metadata, "data": data}
        await self._publisher.replace(self._config_maps, changed)


async def _unless_late(creation: Awaitable[None]) -> None:
    """The namespace is going or gone, or somebody else was quicker: all of that is well."""
    try:
        await creation
    except Refusal as refused:
        details = refused.status.details
        causes = [cause.reason for cause in details.causes or ()] if details else []
        is_late = refused.status.reason in ("AlreadyExists", "NotFound")
        if not is_late and "NamespaceTerminating" not in causes:
            raise
