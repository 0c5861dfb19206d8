"""Services, pods and Endpoints, as much of them as is read here: a cache of all pods is kept small by it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import field

from kubevirt.api import scheme
from kubevirt.api.core.references import ObjectReference
from kubevirt.api.core.service import Endpoint, EndpointPort
from kubevirt.api.meta import ObjectMeta, OwnerReference
from kubevirt.api.resource import Resource
from kubevirt.api.struct import NO_ENTRIES, Struct

ENDED: Final = ("Succeeded", "Failed")
HEADLESS: Final = "None"
EXTERNAL_NAME: Final = "ExternalName"


class Metadata(Struct, frozen=True, kw_only=True):
    name: str = ""
    namespace: str | None = None
    uid: str = ""
    resource_version: str | None = None
    labels: Mapping[str, str] = NO_ENTRIES
    deletion_timestamp: datetime | None = None
    owner_references: tuple[OwnerReference, ...] = ()


class ServicePort(Struct, frozen=True, kw_only=True):
    name: str | None = None
    app_protocol: str | None = None
    port: int
    protocol: str | None = None
    target_port: int | str | None = None


class ServiceSpec(Struct, frozen=True, kw_only=True):
    type: str | None = None
    cluster_ip: str | None = field(default=None, name="clusterIP")
    ports: tuple[ServicePort, ...] | None = None
    publish_not_ready_addresses: bool | None = None
    selector: Mapping[str, str] | None = None


class Service(Struct, frozen=True, kw_only=True):
    metadata: Metadata = Metadata()
    spec: ServiceSpec = ServiceSpec()

    @property
    def is_headless(self) -> bool:
        return self.spec.cluster_ip == HEADLESS

    @property
    def has_endpoints(self) -> bool:
        """That are looked for here: those of others are their own matter."""
        return bool(self.spec.selector) and self.spec.type != EXTERNAL_NAME

    def selects(self, labels: Mapping[str, str]) -> bool:
        selector = self.spec.selector or {}
        return self.has_endpoints and all(labels.get(key) == each for key, each in selector.items())


class ContainerPort(Struct, frozen=True, kw_only=True):
    name: str | None = None
    container_port: int
    protocol: str | None = None


class Container(Struct, frozen=True, kw_only=True):
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None


class PodSpec(Struct, frozen=True, kw_only=True):
    containers: tuple[Container, ...] = ()
    hostname: str | None = None
    init_containers: tuple[Container, ...] | None = None
    node_name: str | None = None
    subdomain: str | None = None


class PodCondition(Struct, frozen=True, kw_only=True):
    type: str
    status: str


class PodIP(Struct, frozen=True, kw_only=True):
    ip: str


class PodStatus(Struct, frozen=True, kw_only=True):
    conditions: tuple[PodCondition, ...] | None = None
    phase: str | None = None
    pod_ip: str | None = field(default=None, name="podIP")
    pod_i_ps: tuple[PodIP, ...] | None = None


class Pod(Struct, frozen=True, kw_only=True):
    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class EndpointSlice(Struct, frozen=True, kw_only=True):
    """What is empty in it, servers say is null."""

    address_type: str
    api_version: str | None = None
    endpoints: tuple[Endpoint, ...] | None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    ports: tuple[EndpointPort, ...] | None = None


class Address(Struct, frozen=True, kw_only=True):
    ip: str
    hostname: str | None = None
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class Port(Struct, frozen=True, kw_only=True):
    name: str | None = None
    app_protocol: str | None = None
    port: int
    protocol: str | None = None


class Subset(Struct, frozen=True, kw_only=True):
    addresses: tuple[Address, ...] = ()
    not_ready_addresses: tuple[Address, ...] = ()
    ports: tuple[Port, ...] = ()


class Endpoints(Struct, frozen=True, kw_only=True):
    api_version: str | None = None
    kind: str | None = None
    metadata: Metadata = Metadata()
    subsets: tuple[Subset, ...] | None = None


SERVICES: Final = scheme.SERVICES.read_as(Service)
PODS: Final = scheme.PODS.read_as(Pod)
ENDPOINT_SLICES: Final = scheme.ENDPOINT_SLICES.read_as(EndpointSlice)
ENDPOINTS: Final = Resource("", "v1", "endpoints", "Endpoints", True, Endpoints)
