"""The controller of endpoints: reads Services and pods, decides, writes what differs.

    async with following(client, clock):
        ...

Pods that come close together are one change: a Service waits for a moment before it is looked at.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.embedded.controllers.endpoints import legacy, slices
from kubevirt.embedded.controllers.endpoints.behind import Backend, behind
from kubevirt.embedded.controllers.endpoints.objects import (
    ENDPOINT_SLICES,
    ENDPOINTS,
    PODS,
    SERVICES,
    Endpoints,
    EndpointSlice,
    Pod,
    Service,
)
from kubevirt.embedded.network.labels import MANAGED_BY, SERVICE_NAME
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, Controller, Result
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch

TOGETHER_S: Final = 0.05
_NAMESPACE: Final = "namespace"
_SERVICE: Final = "service"


@asynccontextmanager
async def following(client: Client, clock: Clock) -> AsyncIterator[None]:
    async with background(EndpointsController(client, clock).run()):
        yield


class EndpointsController:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        in_namespace = {_NAMESPACE: lambda thing: thing.metadata.namespace}
        self._services: Informer[Service] = Informer(
            client, SERVICES, clock=clock, indexes=in_namespace
        )
        self._pods: Informer[Pod] = Informer(client, PODS, clock=clock, indexes=in_namespace)
        self._slices: Informer[EndpointSlice] = Informer(
            client,
            ENDPOINT_SLICES,
            clock=clock,
            label_selector=f"{MANAGED_BY}={slices.CONTROLLER}",
            indexes={_SERVICE: _service_of},
        )
        self._endpoints: Informer[Endpoints] = Informer(
            client,
            ENDPOINTS,
            clock=clock,
            label_selector=f"{legacy.MANAGED_BY}={legacy.CONTROLLER}",
        )
        self._informers = (self._services, self._pods, self._slices, self._endpoints)
        self._controller: Controller[Key] = Controller(
            "endpoints", self._reconcile, clock=clock, wait_for=self._informers
        )
        self._services.add_handler(lambda change: self._later([change.key]))
        self._pods.add_handler(self._hear_of_pod)
        self._slices.add_handler(self._hear_of_slice)
        self._endpoints.add_handler(lambda change: self._later([change.key]))

    async def run(self) -> None:
        async with background(*(each.run() for each in self._informers)):
            await self._controller.run()

    # Who is to be looked at

    def _later(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._controller.queue.add_after(key, TOGETHER_S)

    def _hear_of_pod(self, change: Change[Pod]) -> None:
        """Those that select it now, and those that did."""
        if change.old and change.new and _is_alike(change.old, change.new):
            return
        pods = [each for each in (change.old, change.new) if each is not None]
        services = self._services.by_index(_NAMESPACE, change.key.namespace)
        self._later(
            Key.of(service)
            for service in services
            if any(service.selects(pod.metadata.labels) for pod in pods)
        )

    def _hear_of_slice(self, change: Change[EndpointSlice]) -> None:
        for each in (change.old, change.new):
            if each is not None and (name := each.metadata.labels.get(SERVICE_NAME)):
                self._later([Key(each.metadata.namespace or "", name)])

    # What is done

    async def _reconcile(self, key: Key) -> Result:
        service = self._services.get(key)
        if service is None or not service.has_endpoints:
            if service is None:
                await self._forget(key)
            return DONE
        pods = self._pods.by_index(_NAMESPACE, key.namespace)
        backends = behind(service, pods)
        await self._write_slices(service, backends)
        await self._write_endpoints(key, service, backends)
        return DONE

    async def _write_slices(self, service: Service, backends: list[Backend]) -> None:
        key = Key.of(service)
        present = [
            each
            for each in self._slices.by_index(_SERVICE, str(key))
            if any(owner.uid == service.metadata.uid for owner in each.metadata.owner_references)
        ]
        plan = slices.plan(service, backends, present)
        for each in plan.create:
            # There already: the cache will show it in a moment, and it is compared then.
            with suppress(AlreadyExists):
                await self._client.create(ENDPOINT_SLICES, each)
        for name, patch in plan.patch.items():
            with suppress(NotFound):
                await self._client.patch(ENDPOINT_SLICES, name, MergePatch(patch), key.namespace)
        for name in plan.delete:
            with suppress(NotFound):
                await self._client.delete(ENDPOINT_SLICES, name, key.namespace)

    async def _write_endpoints(self, key: Key, service: Service, backends: list[Backend]) -> None:
        wanted = legacy.endpoints(service, backends)
        found = self._endpoints.get(key)
        if found is None:
            with suppress(AlreadyExists):  # somebody else's, or not in the cache yet
                await self._client.create(ENDPOINTS, wanted)
        elif patch := legacy.difference(wanted, found):
            with suppress(NotFound):
                await self._client.patch(ENDPOINTS, key.name, MergePatch(patch), key.namespace)

    async def _forget(self, key: Key) -> None:
        """Slices go with their Service, whom they belong to; Endpoints belong to nobody."""
        found = self._endpoints.get(key)
        if found is not None and legacy.is_ours(found):
            with suppress(NotFound):
                await self._client.delete(ENDPOINTS, key.name, key.namespace)


def _service_of(found: EndpointSlice) -> str | None:
    name = found.metadata.labels.get(SERVICE_NAME)
    return str(Key(found.metadata.namespace or "", name)) if name else None


def _is_alike(old: Pod, new: Pod) -> bool:
    return (old.metadata.labels, old.metadata.deletion_timestamp, old.spec, old.status) == (
        new.metadata.labels,
        new.metadata.deletion_timestamp,
        new.spec,
        new.status,
    )
