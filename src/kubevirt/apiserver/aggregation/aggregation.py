"""All of this package put together for one server.

aggregation = Aggregation(registry, callees, client=files, access=settings)
await aggregation.load()                    # before the first request
async with background(aggregation.run()):   # as long as the server lives
    …  aggregation.serving(path), aggregation.forward(request, identity, registration)
"""

import asyncio

import msgspec
from aiohttp import web

from kubevirt.apiserver.aggregation import looking
from kubevirt.apiserver.aggregation import registration as registration_
from kubevirt.apiserver.aggregation.asking import Questions
from kubevirt.apiserver.aggregation.attending import Attendants
from kubevirt.apiserver.aggregation.descriptions import Descriptions
from kubevirt.apiserver.aggregation.directory import Directory
from kubevirt.apiserver.aggregation.following import Changes, followed
from kubevirt.apiserver.aggregation.forwarding import Forwarder
from kubevirt.apiserver.aggregation.identity import IdentityPublisher
from kubevirt.apiserver.aggregation.local import LocalApiServices
from kubevirt.apiserver.aggregation.registration import Registration
from kubevirt.apiserver.aggregation.registrations import Registrations
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.callees.callee import ClientFiles
from kubevirt.apiserver.callees.callees import Callees
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.base.log import get_logger

log = get_logger(__name__)


class Aggregation:
    def __init__(
        self,
        registry: Registry,
        callees: Callees,
        *,
        client: ClientFiles | None = None,
        access: AccessSettings | None = None,
    ) -> None:
        """`client` is the certificate by which callees know us; `access` is what they are told to trust."""
        self._store = registry.store
        self._callees = callees
        self._registrations = Registrations()
        self._descriptions = Descriptions()
        self.directory = Directory(self._registrations, self._descriptions)
        self._forwarder = Forwarder(callees, client, registry.clock)
        self._local = LocalApiServices(registry)
        self._attendants = Attendants(
            registry,
            callees,
            Questions(callees, client, registry.clock),
            self._registrations,
            self._descriptions,
        )
        self._publisher = IdentityPublisher(registry, access) if access else None
        kind = registry.catalog.kind
        self._api_services = kind("apiregistration.k8s.io", "apiservices").prefix
        self._definitions = kind("apiextensions.k8s.io", "customresourcedefinitions").prefix
        self._services = kind("", "services").prefix
        self._slices = kind("discovery.k8s.io", "endpointslices").prefix

    # Requests

    def serving(self, path: str) -> Registration | None:
        """Who answers for a path; None if we do."""
        match path.split("/")[1:]:
            case ["apis", group, version, *_] | ["openapi", "v3", "apis", group, version]:
                return self._registrations.serving(group, version)
            case ["api", version, *_]:
                return self._registrations.serving("", version)
        return None

    async def forward(
        self, request: web.BaseRequest, identity: Identity, registration: Registration
    ) -> web.StreamResponse:
        return await self._forwarder.forward(request, identity, registration)

    # What keeps it current

    async def load(self) -> None:
        """Before the first request, so that nobody sees half of the API."""
        page = await self._store.list(self._definitions)
        await self._local.start({entry.key: entry for entry in page.entries})
        page = await self._store.list(self._api_services)
        self._learn({entry.key: entry for entry in page.entries})

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_api_services(tasks))
            tasks.create_task(self._follow_definitions())
            tasks.create_task(self._follow_services())
            tasks.create_task(self._follow_endpoints())
            if self._publisher:
                tasks.create_task(self._publisher.run())
            self._callees.listen(self._attendants.wake)

    async def _follow_api_services(self, tasks: asyncio.TaskGroup) -> None:
        async for changes in followed(self._store, self._api_services):
            names = self._learn(changes)
            self._attendants.changed(names, tasks)
            await self._local.changed(changes)

    def _learn(self, changes: Changes) -> list[str]:
        names = []
        for key, entry in changes.items():
            name = key.removeprefix(self._api_services)
            names.append(name)
            if entry is None:
                self._registrations.remove(name)
                continue
            try:
                self._registrations.put(registration_.read(entry.value))
            except (
                msgspec.ValidationError
            ) as error:  # from another time: it must not end the server
                log.warning("an APIService cannot be read", api_service=name, error=error)
        return names

    async def _follow_definitions(self) -> None:
        async for changes in followed(self._store, self._definitions):
            await self._local.definitions_changed(changes)

    async def _follow_services(self) -> None:
        async for changes in followed(self._store, self._services):
            for key in changes:
                namespace, _, name = key.removeprefix(self._services).partition("/")
                await self._moved(namespace, name)

    async def _follow_endpoints(self) -> None:
        async for changes in followed(self._store, self._slices):
            for key, entry in changes.items():
                namespace = key.removeprefix(self._slices).partition("/")[0]
                # Whose one was that is gone, nobody knows: it may have been anybody's.
                await self._moved(namespace, looking.owner(entry.value) if entry else "")

    async def _moved(self, namespace: str, service: str) -> None:
        await self._callees.moved(namespace, service)
        self._attendants.wake(namespace, service)
