"""What the cluster is told of its network: the Service of its names, and where the API server is.

The API server describes itself by a Service without saying where it is, since a loopback address would mean
every pod's own. On the gateway's it has one that is the same to all.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from kubevirt.embedded.network.labels import SERVICE_NAME
from kubevirt.embedded.network.objects import ENDPOINT_SLICES, SERVICES, EndpointSlice, Service
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch

DNS: Final = Key("kube-system", "kube-dns")
API: Final = Key("default", "kubernetes")

Object = Mapping[str, Any]


def dns_service(settings: NetworkSettings) -> Object:
    address = str(settings.dns_address)
    return {
        "metadata": {
            "name": DNS.name,
            "namespace": DNS.namespace,
            "labels": {
                "k8s-app": "kube-dns",
                "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "CoreDNS",
            },
        },
        "spec": {
            "clusterIP": address,
            "clusterIPs": [address],
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
            ],
        },
    }


def api_slice(settings: NetworkSettings) -> Object:
    return {
        "metadata": {
            "name": API.name,
            "namespace": API.namespace,
            "labels": {SERVICE_NAME: API.name},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [str(settings.gateway)], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": settings.api_port, "protocol": "TCP"}],
    }


async def publish(
    client: Client,
    settings: NetworkSettings,
    services: Informer[Service],
    slices: Informer[EndpointSlice],
) -> None:
    """Only what is missing or other than it should be is written. What somebody else wrote or removed in
    between, the caches will tell in a moment.
    """
    if services.get(DNS) is None:
        with suppress(AlreadyExists):
            await client.create(SERVICES, dns_service(settings))
    found = slices.get(API)
    if found is None:
        with suppress(AlreadyExists):
            await client.create(ENDPOINT_SLICES, api_slice(settings))
    elif not _leads_to(found, settings):
        wanted = api_slice(settings)
        patch = MergePatch({"endpoints": wanted["endpoints"], "ports": wanted["ports"]})
        with suppress(NotFound):
            await client.patch(ENDPOINT_SLICES, API.name, patch, API.namespace)


def _leads_to(found: EndpointSlice, settings: NetworkSettings) -> bool:
    addresses = [address for each in found.endpoints or () for address in each.addresses]
    ports = [each.port for each in found.ports or ()]
    return addresses == [str(settings.gateway)] and ports == [settings.api_port]
