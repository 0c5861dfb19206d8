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
from kubevirt.api.struct import (
    ATOMIC,
    NO_ENTRIES,
    Int64,
    Struct,
    list_map,
    mark,
)
from kubevirt.api.volumes import UtilityVolume, Volume


class VirtualMachineInstanceSpec(Struct, frozen=True, kw_only=True):
    """What to run and where."""

    access_credentials: Annotated[tuple[AccessCredential, ...], ATOMIC, mark(maxItems=256)] = ()
    """SSH keys and passwords to put into the guest."""
    affinity: Affinity | None = None
    """Rules about nodes and neighbouring pods."""
    architecture: str | None = None
    """amd64, arm64 or s390x; cluster default if not set."""
    dns_config: PodDNSConfig | None = None
    """Name servers and search domains besides dnsPolicy."""
    dns_policy: str | None = None
    """Name resolution, as for pods; ClusterFirst if not set."""
    domain: DomainSpec
    """Virtual hardware."""
    eviction_strategy: str | None = None
    """On node drain: None, LiveMigrate, LiveMigrateIfPossible or External; cluster default if not
    set.
    """
    hostname: str | None = None
    """Host name of pod and guest; the instance's name if not set."""
    liveness_probe: Probe | None = None
    """Check whose failure stops the instance."""
    networks: Annotated[tuple[Network, ...], mark(maxItems=256)] = ()
    """Networks for the interfaces in domain.devices."""
    node_selector: Mapping[str, str] = NO_ENTRIES
    """Labels that the node must have."""
    priority_class_name: str | None = None
    """PriorityClass of the launcher pod."""
    readiness_probe: Probe | None = None
    """Check that decides whether services send traffic here."""
    resource_claims: Annotated[
        tuple[VirtualMachineInstanceResourceClaim, ...], list_map("name")
    ] = ()
    """Devices from dynamic resource allocation."""
    scheduler_name: str | None = None
    """Scheduler for the launcher pod; the cluster's own if not set."""
    service_account_name: str | None = None
    """ServiceAccount of the launcher pod; the guest sees no token by this."""
    start_strategy: str | None = None
    """Paused halts the guest before its first instruction, until unpaused."""
    subdomain: str | None = None
    """Headless service that gives the instance a DNS name with hostname."""
    termination_grace_period_seconds: Int64 | None = None
    """Seconds for an orderly shutdown before the guest is killed; 30 if not set."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints of nodes that do not keep the guest away."""
    topology_spread_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...], list_map("topologyKey", "whenUnsatisfiable")
    ] = ()
    """Even distribution over zones, nodes or other domains."""
    utility_volumes: Annotated[tuple[UtilityVolume, ...], list_map("name"), mark(maxItems=256)] = ()
    """PVCs mounted in the launcher pod only; gate UtilityVolumes."""
    volumes: Annotated[tuple[Volume, ...], mark(maxItems=256)] = ()
    """Storage for the disks and filesystems in domain.devices."""


class VirtualMachineInstanceTemplateSpec(Struct, frozen=True, kw_only=True):
    """Pattern for instances that a controller creates."""

    metadata: ObjectMeta = ObjectMeta()
    """Labels and annotations of the created instances."""
    spec: VirtualMachineInstanceSpec | None = None
    """What they run."""


class VirtualMachineInstance(Struct, frozen=True, kw_only=True):
    """One running guest and the pod around it; once stopped it never starts again."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstanceSpec
    """What to run and where."""
    status: VirtualMachineInstanceStatus = VirtualMachineInstanceStatus()
    """What is known of the guest; kept by KubeVirt."""
