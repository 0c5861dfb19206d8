"""Pod: the unit that a node runs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.core.container import (
    AppArmorProfile,
    Container,
    ResourceRequirements,
    SeccompProfile,
    SELinuxOptions,
)
from kubevirt.api.core.dns import PodDNSConfig
from kubevirt.api.core.pod_volumes import Volume
from kubevirt.api.core.references import LocalObjectReference, ObjectReference
from kubevirt.api.core.scheduling import Affinity, Toleration, TopologySpreadConstraint
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Int64, Quantity, Struct, list_map


class HostAlias(Struct, frozen=True, kw_only=True):
    """A line in the pod's /etc/hosts."""

    hostnames: Annotated[tuple[str, ...], ATOMIC] = ()
    ip: str


class PodReadinessGate(Struct, frozen=True, kw_only=True):
    """A condition that somebody else must set before the pod counts as ready."""

    condition_type: str


class PodSchedulingGate(Struct, frozen=True, kw_only=True):
    """Something to wait for before the pod is scheduled."""

    name: str


class PodResourceClaim(Struct, frozen=True, kw_only=True):
    """Devices for the pod, by a claim or by a template that makes one."""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class Sysctl(Struct, frozen=True, kw_only=True):
    """A kernel parameter of the pod's namespaces."""

    name: str
    value: str


class PodSecurityContext(Struct, frozen=True, kw_only=True):
    """Privileges of all containers, and groups that own the volumes."""

    app_armor_profile: AppArmorProfile | None = None
    fs_group: Int64 | None = None
    fs_group_change_policy: str | None = None
    run_as_group: Int64 | None = None
    run_as_non_root: bool | None = None
    run_as_user: Int64 | None = None
    se_linux_change_policy: str | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    supplemental_groups: Annotated[tuple[Int64, ...], ATOMIC] = ()
    supplemental_groups_policy: str | None = None
    sysctls: Annotated[tuple[Sysctl, ...], ATOMIC] = ()


class PodSpec(Struct, frozen=True, kw_only=True):
    """What a pod runs, where it may run and with which volumes."""

    active_deadline_seconds: Int64 | None = None
    affinity: Affinity | None = None
    automount_service_account_token: bool | None = None
    containers: Annotated[tuple[Container, ...], list_map("name")]
    dns_config: PodDNSConfig | None = None
    dns_policy: str | None = None
    enable_service_links: bool | None = None
    host_aliases: Annotated[tuple[HostAlias, ...], list_map("ip")] = ()
    host_ipc: bool | None = field(default=None, name="hostIPC")
    host_network: bool | None = None
    host_pid: bool | None = field(default=None, name="hostPID")
    host_users: bool | None = None
    hostname: str | None = None
    hostname_override: str | None = None
    image_pull_secrets: Annotated[tuple[LocalObjectReference, ...], list_map("name")] = ()
    init_containers: Annotated[tuple[Container, ...], list_map("name")] = ()
    node_name: str | None = None
    node_selector: Mapping[str, str] = NO_ENTRIES
    overhead: Mapping[str, Quantity] = NO_ENTRIES
    preemption_policy: str | None = None
    priority: Int32 | None = None
    priority_class_name: str | None = None
    readiness_gates: Annotated[tuple[PodReadinessGate, ...], ATOMIC] = ()
    resource_claims: Annotated[tuple[PodResourceClaim, ...], list_map("name")] = ()
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    runtime_class_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: Annotated[tuple[PodSchedulingGate, ...], list_map("name")] = ()
    security_context: PodSecurityContext | None = None
    service_account: str | None = None
    service_account_name: str | None = None
    set_hostname_as_fqdn: bool | None = field(default=None, name="setHostnameAsFQDN")
    share_process_namespace: bool | None = None
    subdomain: str | None = None
    termination_grace_period_seconds: Int64 | None = None
    tolerations: Annotated[tuple[Toleration, ...], ATOMIC] = ()
    topology_spread_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...], list_map("topologyKey", "whenUnsatisfiable")
    ] = ()
    volumes: Annotated[tuple[Volume, ...], list_map("name")] = ()


class PodTemplateSpec(Struct, frozen=True, kw_only=True):
    """The pod that a workload controller creates."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec | None = None


class ContainerStateRunning(Struct, frozen=True, kw_only=True):
    """The container runs."""

    started_at: datetime | None = None


class ContainerStateTerminated(Struct, frozen=True, kw_only=True):
    """The container ended: how and why."""

    container_id: str | None = field(default=None, name="containerID")
    exit_code: Int32
    finished_at: datetime | None = None
    message: str | None = None
    reason: str | None = None
    signal: Int32 | None = None
    started_at: datetime | None = None


class ContainerStateWaiting(Struct, frozen=True, kw_only=True):
    """The container has not started: for what it waits."""

    message: str | None = None
    reason: str | None = None


class ContainerState(Struct, frozen=True, kw_only=True):
    """What a container does now: at most one is set."""

    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None
    waiting: ContainerStateWaiting | None = None


class ContainerStatus(Struct, frozen=True, kw_only=True):
    """One container as the kubelet sees it."""

    name: str
    allocated_resources: Mapping[str, Quantity] = NO_ENTRIES
    container_id: str | None = field(default=None, name="containerID")
    image: str
    image_id: str = field(name="imageID")
    last_state: ContainerState | None = None
    ready: bool
    resources: ResourceRequirements | None = None
    restart_count: Int32
    started: bool | None = None
    state: ContainerState | None = None
    stop_signal: str | None = None


class HostIP(Struct, frozen=True, kw_only=True):
    """An address of the node."""

    ip: str


class PodIP(Struct, frozen=True, kw_only=True):
    """An address of the pod."""

    ip: str


class PodCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the pod's state, such as PodScheduled or Ready."""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    observed_generation: Int64 | None = None
    reason: str | None = None
    status: str


class PodStatus(Struct, frozen=True, kw_only=True):
    """What the kubelet reports of a pod."""

    conditions: Annotated[tuple[PodCondition, ...], list_map("type")] = ()
    container_statuses: Annotated[tuple[ContainerStatus, ...], ATOMIC] = ()
    ephemeral_container_statuses: Annotated[tuple[ContainerStatus, ...], ATOMIC] = ()
    host_ip: str | None = field(default=None, name="hostIP")
    host_i_ps: Annotated[tuple[HostIP, ...], ATOMIC] = ()
    init_container_statuses: Annotated[tuple[ContainerStatus, ...], ATOMIC] = ()
    message: str | None = None
    nominated_node_name: str | None = None
    observed_generation: Int64 | None = None
    phase: str | None = None
    pod_ip: str | None = field(default=None, name="podIP")
    pod_i_ps: Annotated[tuple[PodIP, ...], list_map("ip")] = ()
    qos_class: str | None = None
    reason: str | None = None
    resize: str | None = None
    start_time: datetime | None = None


class Pod(Struct, frozen=True, kw_only=True):
    """Containers that run together on one node; a virt-launcher pod holds one guest."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec | None = None
    status: PodStatus = PodStatus()


class Binding(Struct, frozen=True, kw_only=True):
    """Body of pods/binding: the decision where a pod runs."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    target: ObjectReference
