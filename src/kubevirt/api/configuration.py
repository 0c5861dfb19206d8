"""KubeVirtConfiguration: the settings of an installation."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from kubevirt.api.domain import ResourceRequirementsWithoutClaims
from kubevirt.api.launch_security import TDXAttestationConfiguration
from kubevirt.api.meta import LabelSelector
from kubevirt.api.migration_options import MigrationConfiguration
from kubevirt.api.struct import (
    ATOMIC,
    NO_ENTRIES,
    SET,
    Int32,
    Int64,
    Quantity,
    Struct,
    enum,
    list_map,
)


class ArchSpecificConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    emulated_machines: Annotated[tuple[str, ...], ATOMIC] = ()
    machine_type: str | None = None
    ovmf_path: str | None = None


class ArchConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    amd64: ArchSpecificConfiguration | None = None
    arm64: ArchSpecificConfiguration | None = None
    default_architecture: str | None = None
    ppc64le: ArchSpecificConfiguration | None = None
    s390x: ArchSpecificConfiguration | None = None


class ChangedBlockTrackingSelectors(Struct, frozen=True, kw_only=True):
    """…"""

    namespace_label_selector: LabelSelector | None = None
    virtual_machine_label_selector: LabelSelector | None = None


class CommonInstancetypesDeployment(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None


class TDXConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    attestation: TDXAttestationConfiguration | None = None


class ConfidentialComputeConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    tdx: TDXConfiguration | None = None


class CustomProfile(Struct, frozen=True, kw_only=True):
    """…"""

    localhost_profile: str | None = None
    runtime_default_profile: bool | None = None


class VirtualMachineInstanceProfile(Struct, frozen=True, kw_only=True):
    """…"""

    custom_profile: CustomProfile | None = None


class SeccompConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    virtual_machine_instance_profile: VirtualMachineInstanceProfile | None = None


class DiskVerification(Struct, frozen=True, kw_only=True):
    """…"""

    memory_limit: Quantity


class LogVerbosity(Struct, frozen=True, kw_only=True):
    """…"""

    node_verbosity: Mapping[str, Int32] = NO_ENTRIES
    virt_api: Int32 | None = field(default=None, name="virtAPI")
    virt_controller: Int32 | None = None
    virt_handler: Int32 | None = None
    virt_launcher: Int32 | None = None
    virt_operator: Int32 | None = None
    virt_synchronization_controller: Int32 | None = None


class DeveloperConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    cluster_profiler: bool | None = None
    cpu_allocation_ratio: Int32 | None = None
    disabled_feature_gates: Annotated[tuple[str, ...], ATOMIC] = ()
    disk_verification: DiskVerification | None = None
    feature_gates: Annotated[tuple[str, ...], ATOMIC] = ()
    log_verbosity: LogVerbosity | None = None
    memory_overcommit: Int32 | None = None
    minimum_cluster_tsc_frequency: Int64 | None = field(
        default=None, name="minimumClusterTSCFrequency"
    )
    minimum_reserve_pvc_bytes: Int64 | None = field(default=None, name="minimumReservePVCBytes")
    node_selectors: Mapping[str, str] = NO_ENTRIES
    pvc_tolerate_less_space_up_to_percent: Int32 | None = None
    use_emulation: bool | None = None


class DisableFreePageReporting(Struct, frozen=True, kw_only=True):
    """…"""


class DisableSerialConsoleLog(Struct, frozen=True, kw_only=True):
    """…"""


class HypervisorConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None


class InstancetypeConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    reference_policy: str | None = None


class InterfaceBindingMigration(Struct, frozen=True, kw_only=True):
    """…"""

    method: str | None = None


class InterfaceBindingPlugin(Struct, frozen=True, kw_only=True):
    """…"""

    compute_resource_overhead: ResourceRequirementsWithoutClaims | None = None
    domain_attachment_type: str | None = None
    downward_api: str | None = field(default=None, name="downwardAPI")
    migration: InterfaceBindingMigration | None = None
    network_attachment_definition: str | None = None
    sidecar_image: str | None = None


class KSMConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    node_label_selector: LabelSelector | None = None


class LiveUpdateConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    max_cpu_sockets: Int64 | None = None
    max_guest: Quantity | None = None
    max_hotplug_ratio: Int64 | None = None


class NodeMediatedDeviceTypesConfig(Struct, frozen=True, kw_only=True):
    """…"""

    mediated_device_types: Annotated[tuple[str, ...], ATOMIC] = ()
    mediated_devices_types: Annotated[tuple[str, ...], ATOMIC] = ()
    node_selector: Mapping[str, str]


class MediatedDevicesConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None
    mediated_device_types: Annotated[tuple[str, ...], ATOMIC] = ()
    mediated_devices_types: Annotated[tuple[str, ...], ATOMIC] = ()
    node_mediated_device_types: Annotated[tuple[NodeMediatedDeviceTypesConfig, ...], ATOMIC] = ()


class MediatedHostDevice(Struct, frozen=True, kw_only=True):
    """…"""

    external_resource_provider: bool | None = None
    mdev_name_selector: str
    resource_name: str


class PciHostDevice(Struct, frozen=True, kw_only=True):
    """…"""

    external_resource_provider: bool | None = None
    pci_vendor_selector: str
    resource_name: str


class USBSelector(Struct, frozen=True, kw_only=True):
    """…"""

    product: str
    vendor: str


class USBHostDevice(Struct, frozen=True, kw_only=True):
    """…"""

    external_resource_provider: bool | None = None
    resource_name: str
    selectors: Annotated[tuple[USBSelector, ...], ATOMIC] = ()


class PermittedHostDevices(Struct, frozen=True, kw_only=True):
    """…"""

    mediated_devices: Annotated[tuple[MediatedHostDevice, ...], ATOMIC] = ()
    pci_host_devices: Annotated[tuple[PciHostDevice, ...], ATOMIC] = ()
    usb: Annotated[tuple[USBHostDevice, ...], ATOMIC] = ()


class NetworkConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    binding: Mapping[str, InterfaceBindingPlugin] = NO_ENTRIES
    default_network_interface: str | None = None
    permit_bridge_interface_on_pod_network: bool | None = None
    permit_slirp_interface: bool | None = None


class PersistentReservationConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None


class TokenBucketRateLimiter(Struct, frozen=True, kw_only=True):
    """…"""

    burst: Int32
    qps: float


class RateLimiter(Struct, frozen=True, kw_only=True):
    """…"""

    token_bucket_rate_limiter: TokenBucketRateLimiter | None = None


class RESTClientConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    rate_limiter: RateLimiter | None = None


class ReloadableComponentConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    rest_client: RESTClientConfiguration | None = None


class SMBiosConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    family: str | None = None
    manufacturer: str | None = None
    product: str | None = None
    sku: str | None = None
    version: str | None = None


class SupportContainerResources(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    resources: ResourceRequirementsWithoutClaims


class TLSConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    ciphers: Annotated[tuple[str, ...], SET] = ()
    min_tls_version: str | None = field(default=None, name="minTLSVersion")


class VirtTemplateDeployment(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None


class VirtualMachineOptions(Struct, frozen=True, kw_only=True):
    """…"""

    disable_free_page_reporting: DisableFreePageReporting | None = None
    disable_serial_console_log: DisableSerialConsoleLog | None = None


class KubeVirtConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    additional_guest_memory_overhead_ratio: str | None = None
    api_configuration: ReloadableComponentConfiguration | None = None
    architecture_configuration: ArchConfiguration | None = None
    auto_cpu_limit_namespace_label_selector: LabelSelector | None = field(
        default=None, name="autoCPULimitNamespaceLabelSelector"
    )
    changed_block_tracking_label_selectors: ChangedBlockTrackingSelectors | None = None
    common_instancetypes_deployment: CommonInstancetypesDeployment | None = None
    confidential_compute: ConfidentialComputeConfiguration | None = None
    controller_configuration: ReloadableComponentConfiguration | None = None
    cpu_model: str | None = None
    cpu_request: Quantity | None = None
    default_runtime_class: str | None = None
    developer_configuration: DeveloperConfiguration | None = None
    emulated_machines: tuple[str, ...] = ()
    eviction_strategy: str | None = None
    handler_configuration: ReloadableComponentConfiguration | None = None
    hypervisors: Annotated[tuple[HypervisorConfiguration, ...], ATOMIC] = ()
    image_pull_policy: Annotated[str | None, enum("Always", "IfNotPresent", "Never")] = None
    instancetype: InstancetypeConfiguration | None = None
    ksm_configuration: KSMConfiguration | None = None
    live_update_configuration: LiveUpdateConfiguration | None = None
    machine_type: str | None = None
    mediated_devices_configuration: MediatedDevicesConfiguration | None = None
    mem_balloon_stats_period: Int64 | None = None
    migrations: MigrationConfiguration | None = None
    min_cpu_model: str | None = field(default=None, name="minCPUModel")
    network: NetworkConfiguration | None = None
    obsolete_cpu_models: Mapping[str, bool] = field(default=NO_ENTRIES, name="obsoleteCPUModels")
    ovmf_path: str | None = None
    permitted_host_devices: PermittedHostDevices | None = None
    persistent_reservation_configuration: PersistentReservationConfiguration | None = None
    role_aggregation_strategy: str | None = None
    seccomp_configuration: SeccompConfiguration | None = None
    selinux_launcher_type: str | None = None
    smbios: SMBiosConfiguration | None = None
    support_container_resources: Annotated[
        tuple[SupportContainerResources, ...], list_map("type")
    ] = ()
    supported_guest_agent_versions: tuple[str, ...] = ()
    tls_configuration: TLSConfiguration | None = None
    virt_template_deployment: VirtTemplateDeployment | None = None
    virtual_machine_instances_per_node: Int32 | None = None
    virtual_machine_options: VirtualMachineOptions | None = None
    vm_rollout_strategy: str | None = None
    vm_state_storage_class: str | None = None
    webhook_configuration: ReloadableComponentConfiguration | None = None
