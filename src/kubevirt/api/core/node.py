"""Node: a machine that runs pods."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, SET, Int32, Int64, Quantity, Struct, list_map


class Taint(Struct, frozen=True, kw_only=True):
    """Keeps pods off a node unless they tolerate it."""

    effect: str
    key: str
    time_added: datetime | None = None
    value: str | None = None


class NodeSpec(Struct, frozen=True, kw_only=True):
    """What was decided about a node: taints, schedulability, pod addresses."""

    external_id: str | None = field(default=None, name="externalID")
    pod_cidr: str | None = field(default=None, name="podCIDR")
    pod_cid_rs: Annotated[tuple[str, ...], SET] = field(default=(), name="podCIDRs")
    provider_id: str | None = field(default=None, name="providerID")
    taints: Annotated[tuple[Taint, ...], ATOMIC] = ()
    unschedulable: bool | None = None


class NodeAddress(Struct, frozen=True, kw_only=True):
    """A name or address of a node, by type."""

    type: str
    address: str


class NodeCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the node's health, such as Ready or MemoryPressure."""

    type: str
    last_heartbeat_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class DaemonEndpoint(Struct, frozen=True, kw_only=True):
    """A port; its JSON name is capitalised, unlike all others."""

    port: Int32 = field(name="Port")


class NodeDaemonEndpoints(Struct, frozen=True, kw_only=True):
    """Ports of the node's daemons."""

    kubelet_endpoint: DaemonEndpoint | None = None


class NodeSystemInfo(Struct, frozen=True, kw_only=True):
    """Versions and identifiers of the node."""

    architecture: str
    boot_id: str = field(name="bootID")
    container_runtime_version: str
    kernel_version: str
    kube_proxy_version: str
    kubelet_version: str
    machine_id: str = field(name="machineID")
    operating_system: str
    os_image: str
    system_uuid: str = field(name="systemUUID")


class ContainerImage(Struct, frozen=True, kw_only=True):
    """An image in the node's cache."""

    names: Annotated[tuple[str, ...], ATOMIC] = ()
    size_bytes: Int64 | None = None


class NodeStatus(Struct, frozen=True, kw_only=True):
    """What the kubelet reports: capacity, health, addresses."""

    addresses: Annotated[tuple[NodeAddress, ...], list_map("type")] = ()
    allocatable: Mapping[str, Quantity] = NO_ENTRIES
    capacity: Mapping[str, Quantity] = NO_ENTRIES
    conditions: Annotated[tuple[NodeCondition, ...], list_map("type")] = ()
    daemon_endpoints: NodeDaemonEndpoints | None = None
    images: Annotated[tuple[ContainerImage, ...], ATOMIC] = ()
    node_info: NodeSystemInfo | None = None
    phase: str | None = None
    volumes_in_use: Annotated[tuple[str, ...], ATOMIC] = ()


class Node(Struct, frozen=True, kw_only=True):
    """A machine of the cluster; virt-handler labels it with what guests can use there."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
