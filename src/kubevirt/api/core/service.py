"""Service: one address for many pods."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import ObjectReference
from kubevirt.api.meta import Condition, ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, SET, Int32, IntOrString, Struct, list_map


class ServicePort(Struct, frozen=True, kw_only=True):
    """A port of the service and where it leads in the pods."""

    name: str | None = None
    app_protocol: str | None = None
    node_port: Int32 | None = None
    port: Int32
    protocol: str | None = None
    target_port: IntOrString | None = None


class ServiceSpec(Struct, frozen=True, kw_only=True):
    """Which pods a service leads to, and from where it is reached."""

    type: str | None = None
    allocate_load_balancer_node_ports: bool | None = None
    cluster_ip: str | None = field(default=None, name="clusterIP")
    cluster_i_ps: Annotated[tuple[str, ...], ATOMIC] = ()
    external_i_ps: Annotated[tuple[str, ...], ATOMIC] = ()
    external_name: str | None = None
    external_traffic_policy: str | None = None
    health_check_node_port: Int32 | None = None
    internal_traffic_policy: str | None = None
    ip_families: Annotated[tuple[str, ...], ATOMIC] = ()
    ip_family_policy: str | None = None
    load_balancer_class: str | None = None
    load_balancer_ip: str | None = field(default=None, name="loadBalancerIP")
    load_balancer_source_ranges: Annotated[tuple[str, ...], ATOMIC] = ()
    ports: Annotated[tuple[ServicePort, ...], list_map("port", "protocol")] = ()
    publish_not_ready_addresses: bool | None = None
    selector: Mapping[str, str] = NO_ENTRIES
    session_affinity: str | None = None
    traffic_distribution: str | None = None


class PortStatus(Struct, frozen=True, kw_only=True):
    """A port of a load balancer, or why it failed."""

    error: str | None = None
    port: Int32
    protocol: str


class LoadBalancerIngress(Struct, frozen=True, kw_only=True):
    """One address of a load balancer."""

    hostname: str | None = None
    ip: str | None = None
    ip_mode: str | None = None
    ports: Annotated[tuple[PortStatus, ...], ATOMIC] = ()


class LoadBalancerStatus(Struct, frozen=True, kw_only=True):
    """Where a load balancer is reached."""

    ingress: Annotated[tuple[LoadBalancerIngress, ...], ATOMIC] = ()


class ServiceStatus(Struct, frozen=True, kw_only=True):
    """What a load balancer's provider reports."""

    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    load_balancer: LoadBalancerStatus | None = None


class Service(Struct, frozen=True, kw_only=True):
    """One name and address in front of changing pods."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class EndpointPort(Struct, frozen=True, kw_only=True):
    """A port that all endpoints of a slice share."""

    name: str | None = None
    app_protocol: str | None = None
    port: Int32 | None = None
    protocol: str | None = None


class EndpointConditions(Struct, frozen=True, kw_only=True):
    """Whether an endpoint takes traffic; `None` stands for unknown."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class Endpoint(Struct, frozen=True, kw_only=True):
    """One backend of a service, mostly a pod."""

    addresses: Annotated[tuple[str, ...], SET]
    conditions: EndpointConditions | None = None
    deprecated_topology: Mapping[str, str] = NO_ENTRIES
    hostname: str | None = None
    node_name: str | None = None
    target_ref: ObjectReference | None = None
    zone: str | None = None


class EndpointSlice(Struct, frozen=True, kw_only=True):
    """Part of the backends of a service."""

    address_type: str
    api_version: str | None = None
    endpoints: Annotated[tuple[Endpoint, ...], ATOMIC] = ()
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    ports: Annotated[tuple[EndpointPort, ...], ATOMIC] = ()
