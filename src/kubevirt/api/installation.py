"""KubeVirt: one installation in a cluster."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import field

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.references import LocalObjectReference
from kubevirt.api.core.scheduling import Affinity, Toleration
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Duration, Int32, Int64, Struct, enum


class CertConfig(Struct, frozen=True, kw_only=True):
    """…"""

    duration: Duration | None = None
    renew_before: Duration | None = None


class KubeVirtSelfSignConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    ca: CertConfig | None = None
    ca_overlap_interval: Duration | None = None
    ca_rotate_interval: Duration | None = None
    cert_rotate_interval: Duration | None = None
    server: CertConfig | None = None


class KubeVirtCertificateRotateStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    self_signed: KubeVirtSelfSignConfiguration | None = None


class NodePlacement(Struct, frozen=True, kw_only=True):
    """…"""

    affinity: Affinity | None = None
    node_selector: Mapping[str, str] = NO_ENTRIES
    tolerations: tuple[Toleration, ...] = ()


class ComponentConfig(Struct, frozen=True, kw_only=True):
    """…"""

    node_placement: NodePlacement | None = None
    replicas: int | None = None


class CustomizeComponentsPatch(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    patch: str
    resource_name: str
    resource_type: str


class Flags(Struct, frozen=True, kw_only=True):
    """…"""

    api: Mapping[str, str] = NO_ENTRIES
    controller: Mapping[str, str] = NO_ENTRIES
    handler: Mapping[str, str] = NO_ENTRIES


class CustomizeComponents(Struct, frozen=True, kw_only=True):
    """…"""

    flags: Flags | None = None
    patches: Annotated[tuple[CustomizeComponentsPatch, ...], ATOMIC] = ()


class GenerationStatus(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    group: str
    hash: str | None = None
    last_generation: Int64
    namespace: str | None = None
    resource: str


class KubeVirtCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class KubeVirtWorkloadUpdateStrategy(Struct, frozen=True, kw_only=True):
    """…"""

    batch_eviction_interval: Duration | None = None
    batch_eviction_size: Int32 | None = None
    workload_update_methods: Annotated[tuple[str, ...], ATOMIC] = ()


class KubeVirtSpec(Struct, frozen=True, kw_only=True):
    """…"""

    certificate_rotate_strategy: KubeVirtCertificateRotateStrategy = (
        KubeVirtCertificateRotateStrategy()
    )
    configuration: KubeVirtConfiguration = KubeVirtConfiguration()
    customize_components: CustomizeComponents = CustomizeComponents()
    image_pull_policy: Annotated[str | None, enum("Always", "IfNotPresent", "Never")] = None
    image_pull_secrets: Annotated[tuple[LocalObjectReference, ...], ATOMIC] = ()
    image_registry: str | None = None
    image_tag: str | None = None
    infra: ComponentConfig | None = None
    monitor_account: str | None = None
    monitor_namespace: str | None = None
    product_component: str | None = None
    product_name: str | None = None
    product_version: str | None = None
    service_monitor_namespace: str | None = None
    synchronization_port: str | None = None
    uninstall_strategy: str | None = None
    workload_update_strategy: KubeVirtWorkloadUpdateStrategy = KubeVirtWorkloadUpdateStrategy()
    workloads: ComponentConfig | None = None


class KubeVirtStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: tuple[KubeVirtCondition, ...] = ()
    default_architecture: str | None = None
    generations: Annotated[tuple[GenerationStatus, ...], ATOMIC] = ()
    observed_deployment_config: str | None = None
    observed_deployment_id: str | None = field(default=None, name="observedDeploymentID")
    observed_generation: Int64 | None = None
    observed_kube_virt_registry: str | None = None
    observed_kube_virt_version: str | None = None
    operator_version: str | None = None
    outdated_virtual_machine_instance_workloads: Int32 | None = None
    phase: str | None = None
    synchronization_addresses: Annotated[tuple[str, ...], ATOMIC] = ()
    target_deployment_config: str | None = None
    target_deployment_id: str | None = field(default=None, name="targetDeploymentID")
    target_kube_virt_registry: str | None = None
    target_kube_virt_version: str | None = None


class KubeVirt(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: KubeVirtSpec
    status: KubeVirtStatus = KubeVirtStatus()
