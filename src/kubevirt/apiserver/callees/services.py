"""Services: where the connections to one lead.

To its cluster address if it has one, and then to its endpoints that are ready: on a machine where nobody
carries cluster addresses anywhere, they are the way. To the endpoints alone for a headless Service; for an
ExternalName to whatever that name means. Read from the store whenever a connection is made, so nothing
here grows old.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from kubevirt.apiserver.callees.errors import NoAddress
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.storage.store import Store

Object = dict[str, Any]

HEADLESS: Final = "None"
SERVICE_NAME: Final = "kubernetes.io/service-name"
"""The label by which an EndpointSlice says whose it is."""


class Address(msgspec.Struct, frozen=True):
    host: str
    """A name for an ExternalName, else an address."""
    port: int


class Services:
    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    async def addresses(self, namespace: str, name: str, port: int) -> list[Address]:
        """At least one, in the order in which to try them. Raises `NoAddress`."""
        service = await self._get("", "services", namespace, name)
        if service is None:
            raise NoAddress(f'service "{name}" not found', "ServiceNotFound")
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return [Address(spec.get("externalName", ""), port)]
        wanted = _port(spec, port)
        if wanted is None:
            words = f'no service port {port} found for service "{name}"'
            raise NoAddress(words, "ServicePortError")
        cluster_ip = spec.get("clusterIP") or HEADLESS
        found = [Address(cluster_ip, port)] if cluster_ip != HEADLESS else []
        found += await self._endpoints(namespace, name, wanted)
        if not found:
            words = f'no endpoints available for service "{name}"'
            raise NoAddress(words, "MissingEndpoints")
        return found

    async def _endpoints(self, namespace: str, name: str, port: Object) -> list[Address]:
        slices = [
            each
            for each in await self._list("discovery.k8s.io", "endpointslices", namespace)
            if (each["metadata"].get("labels") or {}).get(SERVICE_NAME) == name
        ]
        if slices:
            return list(_of_slices(slices, port.get("name") or ""))
        older = await self._get("", "endpoints", namespace, name)
        return list(_of_subsets((older or {}).get("subsets") or (), port.get("name") or ""))

    async def _get(self, group: str, plural: str, namespace: str, name: str) -> Object | None:
        entry = await self._store.get(self._catalog.kind(group, plural).key(namespace, name))
        return msgspec.json.decode(entry.value) if entry else None

    async def _list(self, group: str, plural: str, namespace: str) -> list[Object]:
        prefix = self._catalog.kind(group, plural).prefix
        page = await self._store.list(f"{prefix}{namespace}/")
        return [msgspec.json.decode(entry.value) for entry in page.entries]


def _port(spec: Object, port: int) -> Object | None:
    return next((each for each in spec.get("ports") or () if each.get("port") == port), None)


def _of_slices(slices: Iterable[Object], port: str) -> Iterator[Address]:
    for each in slices:
        numbers = _numbers(each.get("ports"), port)
        for endpoint in each.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is False:
                continue
            yield from (Address(endpoint["addresses"][0], number) for number in numbers)


def _of_subsets(subsets: Iterable[Object], port: str) -> Iterator[Address]:
    for subset in subsets:
        numbers = _numbers(subset.get("ports"), port)
        for address in subset.get("addresses") or ():
            yield from (Address(address["ip"], number) for number in numbers)


def _numbers(ports: Iterable[Object] | None, name: str) -> list[int]:
    return [
        each["port"]
        for each in ports or ()
        if (each.get("name") or "") == name and each.get("port")
    ]
