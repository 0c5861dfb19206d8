"""VirtualMachineInstance: one running guest."""

from collections.abc import Mapping
from typing import Annotated

from kubevirt.api.core.dns import PodDNSConfig
from kubevirt.api.core.scheduling import Affinity, Toleration, TopologySpreadConstraint
from kubevirt.api.credentials import AccessCredential
from kubevirt.api.domain import DomainSpec
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.api.interfaces import Network
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.probe import Probe
from kubevirt.api.resource_claims import VirtualMachineInstanceResourceClaim
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int64, Struct, enum, list_map
from kubevirt.api.volumes import UtilityVolume, Volume


class VirtualMachineInstanceSpec(Struct, frozen=True, kw_only=True):
    """…"""

    access_credentials: Annotated[tuple[AccessCredential, ...], ATOMIC] = ()
    affinity: Affinity | None = None
    architecture: str | None = None
    dns_config: PodDNSConfig | None = None
    dns_policy: Annotated[
        str | None, enum("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
    ] = None
    domain: DomainSpec
    eviction_strategy: str | None = None
    hostname: str | None = None
    liveness_probe: Probe | None = None
    networks: tuple[Network, ...] = ()
    node_selector: Mapping[str, str] = NO_ENTRIES
    priority_class_name: str | None = None
    readiness_probe: Probe | None = None
    resource_claims: Annotated[
        tuple[VirtualMachineInstanceResourceClaim, ...], list_map("name")
    ] = ()
    scheduler_name: str | None = None
    service_account_name: str | None = None
    start_strategy: str | None = None
    subdomain: str | None = None
    termination_grace_period_seconds: Int64 | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...], list_map("topologyKey", "whenUnsatisfiable")
    ] = ()
    utility_volumes: Annotated[tuple[UtilityVolume, ...], list_map("name")] = ()
    volumes: tuple[Volume, ...] = ()


class VirtualMachineInstanceTemplateSpec(Struct, frozen=True, kw_only=True):
    """…"""

    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstanceSpec | None = None


class VirtualMachineInstance(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstanceSpec
    status: VirtualMachineInstanceStatus = VirtualMachineInstanceStatus()
