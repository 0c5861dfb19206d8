"""KubeVirt: one installation in a cluster."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.references import LocalObjectReference
from kubevirt.api.core.scheduling import Affinity, Toleration
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import (
    ATOMIC,
    NO_ENTRIES,
    NULLABLE,
    Duration,
    Int64,
    Struct,
    mark,
)


class CertConfig(Struct, frozen=True, kw_only=True):
    """Life of a kind of certificate."""

    duration: Duration | None = None
    """How long a certificate is valid, such as 24h."""
    renew_before: Duration | None = None
    """How long before its end it is replaced; default a fifth of duration."""


class KubeVirtSelfSignConfiguration(Struct, frozen=True, kw_only=True):
    """Certificates that the operator signs itself."""

    ca: CertConfig | None = None
    """The authorities; duration defaults to 168h. Old ones stay trusted until they expire."""
    ca_overlap_interval: Duration | None = None
    """Deprecated: use ca.renewBefore."""
    ca_rotate_interval: Duration | None = None
    """Deprecated: use ca.duration."""
    cert_rotate_interval: Duration | None = None
    """Deprecated: use server.duration."""
    server: CertConfig | None = None
    """The components' own certificates; duration defaults to 24h."""


class KubeVirtCertificateRotateStrategy(Struct, frozen=True, kw_only=True):
    """How certificates are renewed."""

    self_signed: KubeVirtSelfSignConfiguration | None = None
    """The operator signs them."""


class NodePlacement(Struct, frozen=True, kw_only=True):
    """Where pods may run."""

    affinity: Affinity | None = None
    """Affinity to nodes and to other pods."""
    node_selector: Mapping[str, str] = NO_ENTRIES
    """Labels that the node must have."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints to put up with, next to the built-in ones."""


class ComponentConfig(Struct, frozen=True, kw_only=True):
    """Placement and number of a group of components."""

    node_placement: NodePlacement | None = None
    """Where the pods may run."""
    replicas: int | None = None
    """Pods of each deployment; default 2. Only for infra."""


class CustomizeComponentsPatch(Struct, frozen=True, kw_only=True):
    """A change to an object that the operator installs."""

    type: str
    """Format of patch: json, merge or strategic."""
    patch: str
    """The patch, as text."""
    resource_name: Annotated[str, mark(minLength=1)]
    """Name of the object, such as virt-handler."""
    resource_type: Annotated[str, mark(minLength=1)]
    """Kind of the object, such as DaemonSet."""


class Flags(Struct, frozen=True, kw_only=True):
    """Command line flags of components: values by name without dashes."""

    api: Mapping[str, str] = NO_ENTRIES
    """Flags of virt-api."""
    controller: Mapping[str, str] = NO_ENTRIES
    """Flags of virt-controller."""
    handler: Mapping[str, str] = NO_ENTRIES
    """Flags of virt-handler."""


class CustomizeComponents(Struct, frozen=True, kw_only=True):
    """Changes to what the operator installs."""

    flags: Flags | None = None
    """More command line flags."""
    patches: Annotated[tuple[CustomizeComponentsPatch, ...], ATOMIC] = ()
    """Patches, applied in order."""


class GenerationStatus(Struct, frozen=True, kw_only=True):
    """An installed object as the operator left it."""

    name: str
    """Name of the object."""
    group: str
    """API group."""
    hash: str | None = None
    """Digest of the content, for objects without generation."""
    last_generation: Int64
    """Generation after the last write."""
    namespace: str | None = None
    """Namespace of the object."""
    resource: str
    """Plural name, such as daemonsets."""


class KubeVirtCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the installation's state."""

    type: str
    """Created, Synchronized, Available, Progressing or Degraded."""
    last_probe_time: Annotated[datetime | None, NULLABLE] = None
    """When it was last checked."""
    last_transition_time: Annotated[datetime | None, NULLABLE] = None
    """When status last changed."""
    message: str | None = None
    """Details for people."""
    reason: str | None = None
    """Cause in one CamelCase word."""
    status: str
    """True, False or Unknown."""


class KubeVirtWorkloadUpdateStrategy(Struct, frozen=True, kw_only=True):
    """How running guests get to a new version of virt-launcher."""

    batch_eviction_interval: Duration | None = None
    """Pause between two groups of evictions; default 1m."""
    batch_eviction_size: int | None = None
    """Guests that one group evicts; default 10."""
    workload_update_methods: Annotated[tuple[str, ...], ATOMIC] = ()
    """LiveMigrate, Evict, or both: the gentler first. Empty leaves guests as they are."""


class KubeVirtSpec(Struct, frozen=True, kw_only=True):
    """What to install, and how it behaves."""

    certificate_rotate_strategy: KubeVirtCertificateRotateStrategy = (
        KubeVirtCertificateRotateStrategy()
    )
    """How certificates are renewed."""
    configuration: KubeVirtConfiguration = KubeVirtConfiguration()
    """Behaviour of KubeVirt and its guests."""
    customize_components: CustomizeComponents = CustomizeComponents()
    """Changes to the installed objects."""
    image_pull_policy: str | None = None
    """Pull policy of KubeVirt's own components; configuration.imagePullPolicy is for guests."""
    image_pull_secrets: Annotated[tuple[LocalObjectReference, ...], ATOMIC] = ()
    """Secrets that give access to the registry."""
    image_registry: str | None = None
    """Registry of the images; that of the operator's image by default."""
    image_tag: str | None = None
    """Version to install; that of the operator's image by default."""
    infra: ComponentConfig | None = None
    """Placement of virt-api, virt-controller and the like; control-plane nodes by default."""
    monitor_account: str | None = None
    """ServiceAccount of Prometheus that may read metrics; default prometheus-k8s."""
    monitor_namespace: str | None = None
    """Namespace of Prometheus; default openshift-monitoring."""
    product_component: str | None = None
    """Label app.kubernetes.io/component of all components; default kubevirt."""
    product_name: str | None = None
    """Label app.kubernetes.io/part-of of all components; none by default."""
    product_version: str | None = None
    """Label app.kubernetes.io/version of all components; KubeVirt's version by default."""
    service_monitor_namespace: str | None = None
    """Namespace of the ServiceMonitor; that of Prometheus by default."""
    synchronization_port: str | None = None
    """Port for migrations between clusters; default 9185."""
    uninstall_strategy: str | None = None
    """RemoveWorkloads (default) deletes guests too; BlockUninstallIfWorkloadsExist refuses while
    any exist.
    """
    workload_update_strategy: KubeVirtWorkloadUpdateStrategy = KubeVirtWorkloadUpdateStrategy()
    """How running guests are updated."""
    workloads: ComponentConfig | None = None
    """Placement of virt-handler, and so of guests."""


class KubeVirtStatus(Struct, frozen=True, kw_only=True):
    """What is installed."""

    conditions: tuple[KubeVirtCondition, ...] = ()
    """State in detail."""
    default_architecture: str | None = None
    """Architecture of guests that name none."""
    generations: Annotated[tuple[GenerationStatus, ...], ATOMIC] = ()
    """Installed objects as last written, to notice changes made by others."""
    observed_deployment_config: str | None = None
    """Settings of the version in place, as JSON."""
    observed_deployment_id: str | None = field(default=None, name="observedDeploymentID")
    """Digest of those settings."""
    observed_generation: Int64 | None = None
    """Generation of the spec that was acted on."""
    observed_kube_virt_registry: str | None = None
    """Registry in place."""
    observed_kube_virt_version: str | None = None
    """Version in place."""
    operator_version: str | None = None
    """Version of the operator."""
    outdated_virtual_machine_instance_workloads: int | None = None
    """Guests on an old virt-launcher."""
    phase: str | None = None
    """Deploying, Deployed, Deleting or Deleted."""
    synchronization_addresses: Annotated[tuple[str, ...], ATOMIC] = ()
    """Addresses that accept migrations from other clusters."""
    target_deployment_config: str | None = None
    """Settings of the version on its way, as JSON."""
    target_deployment_id: str | None = field(default=None, name="targetDeploymentID")
    """Digest of those settings."""
    target_kube_virt_registry: str | None = None
    """Registry to change to."""
    target_kube_virt_version: str | None = None
    """Version to change to."""


class KubeVirt(Struct, frozen=True, kw_only=True):
    """The installation of KubeVirt in this cluster, and its settings; there is one."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: KubeVirtSpec
    """What to install, and how it behaves."""
    status: KubeVirtStatus = KubeVirtStatus()
    """What is installed."""
