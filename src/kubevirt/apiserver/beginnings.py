"""What is there before anybody has made anything: namespaces, the priorities of the system's own pods, and
the Service by which pods reach this server.
"""

import ipaddress
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry import creating
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import SERVER
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.registry import Registry

Object = dict[str, Any]

NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_MANAGER: Final = "kube-apiserver"
_OF_NODE: Final = "Used for system critical pods that must not be moved from their current node."
_OF_CLUSTER: Final = (
    "Used for system critical pods that must run in the cluster, but can be moved to another node if "
    "necessary."
)
_PRIORITIES: Final = {
    "system-node-critical": (2_000_001_000, _OF_NODE),
    "system-cluster-critical": (2_000_000_000, _OF_CLUSTER),
}


class Itself(msgspec.Struct, frozen=True, kw_only=True):
    """The server, as it describes itself."""

    host: str
    port: int
    services: str
    """Where services have their addresses; the first one is its own."""


async def make_first(registry: Registry, itself: Itself) -> None:
    """Whatever of it is missing."""
    for kind, object_ in (*_first(registry), *_own_service(registry, itself)):
        metadata = object_["metadata"]
        if await registry.store.get(kind.key(metadata.get("namespace", ""), metadata["name"])):
            continue
        call = Call(
            verb="create",
            kind=kind,
            version=kind.storage_version,
            identity=SERVER,
            namespace=metadata.get("namespace", ""),
            user_agent=_MANAGER,
        )
        object_ |= {"apiVersion": call.api_version, "kind": kind.names.kind}
        await creating.store_new(registry, call, object_, WriteOptions(manager=_MANAGER))


def _first(registry: Registry) -> Iterator[tuple[Kind, Object]]:
    catalog = registry.catalog
    for name in NAMESPACES:
        yield catalog.namespaces, {"metadata": {"name": name}}
    for name, (value, words) in _PRIORITIES.items():
        yield (
            catalog.kind("scheduling.k8s.io", "priorityclasses"),
            {
                "metadata": {"name": name},
                "value": value,
                "description": words,
                "preemptionPolicy": "PreemptLowerPriority",
            },
        )


def _own_service(registry: Registry, itself: Itself) -> Iterator[tuple[Kind, Object]]:
    catalog = registry.catalog
    home: Object = {"name": "kubernetes", "namespace": "default"}
    port = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": itself.port or 443}
    labels = {"component": "apiserver", "provider": "kubernetes"}
    address = str(ipaddress.ip_network(itself.services)[1])
    yield (
        catalog.kind("", "services"),
        {
            "metadata": {**home, "labels": labels},
            "spec": {"clusterIP": address, "clusterIPs": [address], "ports": [port]},
        },
    )
    if itself.port and _means_one_machine(itself.host):
        yield (
            catalog.kind("discovery.k8s.io", "endpointslices"),
            {
                "metadata": {**home, "labels": {"kubernetes.io/service-name": "kubernetes"}},
                "addressType": "IPv4",
                "endpoints": [{"addresses": [itself.host], "conditions": {"ready": True}}],
                "ports": [{"name": "https", "port": itself.port, "protocol": "TCP"}],
            },
        )


def _means_one_machine(host: str) -> bool:
    """The same to everybody, as the address of an endpoint must."""
    try:
        address = ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
