"""Whether somebody is there: first what the objects say, then whether there is an answer."""

from typing import Any, Final

import msgspec

from kubevirt.apiserver.aggregation import availability
from kubevirt.apiserver.aggregation.asking import Questions
from kubevirt.apiserver.aggregation.registration import Condition, Registration, ServiceRef
from kubevirt.apiserver.callees.callees import Callees
from kubevirt.apiserver.callees.errors import NoAddress
from kubevirt.apiserver.callees.services import SERVICE_NAME, Services
from kubevirt.apiserver.registry.registry import Registry

Object = dict[str, Any]


class Lookout:
    def __init__(self, registry: Registry, callees: Callees, questions: Questions) -> None:
        self._store = registry.store
        self._callees = callees
        self._questions = questions
        self._services = registry.catalog.kind("", "services")
        self._slices = registry.catalog.kind("discovery.k8s.io", "endpointslices")
        self._ways = Services(registry.store, registry.catalog)

    async def look(self, registration: Registration) -> Condition:
        """A callee of the same process needs no Service."""
        ref = registration.service or ServiceRef()
        if not self._callees.is_registered(ref.namespace, ref.name):
            found = availability.missing(ref, await self._service(ref), await self._slices_of(ref))
            if found:
                return found
        problem = await self._questions.problem(registration, await self._address(ref))
        return availability.unanswered(problem) if problem else availability.PASSED

    async def _service(self, ref: ServiceRef) -> Object | None:
        entry = await self._store.get(self._services.key(ref.namespace, ref.name))
        return msgspec.json.decode(entry.value) if entry else None

    async def _slices_of(self, ref: ServiceRef) -> list[Object]:
        page = await self._store.list(f"{self._slices.prefix}{ref.namespace}/")
        own = (entry.value for entry in page.entries if owner(entry.value) == ref.name)
        return [msgspec.json.decode(value) for value in own]

    async def _address(self, ref: ServiceRef) -> str:
        """As people would write it."""
        try:
            found = await self._ways.addresses(ref.namespace, ref.name, ref.port)
        except NoAddress:
            return f"{ref.name}.{ref.namespace}.svc:{ref.port}"
        host = f"[{found[0].host}]" if ":" in found[0].host else found[0].host
        return f"{host}:{found[0].port}"


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Slice(msgspec.Struct):
    metadata: _Metadata


_slice: Final = msgspec.json.Decoder(_Slice)


def owner(slice_: bytes) -> str:
    """The Service whose endpoints these are."""
    return (_slice.decode(slice_).metadata.labels or {}).get(SERVICE_NAME, "")
