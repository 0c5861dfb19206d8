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
    NULLABLE,
    SET,
    Int32,
    Int64,
    Quantity,
    Struct,
    enum,
    list_map,
    mark,
)


class ArchSpecificConfiguration(Struct, frozen=True, kw_only=True):
    """Settings for guests of one architecture."""

    emulated_machines: Annotated[tuple[str, ...], ATOMIC] = ()
    """Machine types that guests may ask for; * matches anything."""
    machine_type: str | None = None
    """Machine type of guests that name none, such as q35, virt or s390-ccw-virtio."""
    ovmf_path: str | None = None
    """Folder of the UEFI images in virt-launcher; default /usr/share/edk2/ovmf."""


class ArchConfiguration(Struct, frozen=True, kw_only=True):
    """Settings per architecture of the guest."""

    amd64: ArchSpecificConfiguration | None = None
    """For x86_64 guests."""
    arm64: ArchSpecificConfiguration | None = None
    """For 64 bit ARM guests."""
    default_architecture: str | None = None
    """Architecture of guests that name none; else that of the control plane's nodes."""
    ppc64le: ArchSpecificConfiguration | None = None
    """Deprecated: without effect, POWER is not supported; use another architecture."""
    s390x: ArchSpecificConfiguration | None = None
    """For IBM Z guests."""


class ChangedBlockTrackingSelectors(Struct, frozen=True, kw_only=True):
    """Which machines record changed disk blocks; either selector suffices."""

    namespace_label_selector: LabelSelector | None = None
    """All machines in namespaces with these labels."""
    virtual_machine_label_selector: LabelSelector | None = None
    """Machines with these labels."""


class CommonInstancetypesDeployment(Struct, frozen=True, kw_only=True):
    """The bundled instance types and preferences (u1, cx1, o1, …)."""

    enabled: Annotated[bool | None, NULLABLE] = None
    """Whether the operator installs them; default true."""


class TDXConfiguration(Struct, frozen=True, kw_only=True):
    """Intel TDX guests."""

    attestation: TDXAttestationConfiguration | None = None
    """How such guests get quotes for their attestation."""


class ConfidentialComputeConfiguration(Struct, frozen=True, kw_only=True):
    """Guests with encrypted memory."""

    tdx: Annotated[TDXConfiguration | None, NULLABLE] = None
    """Settings for Intel TDX."""


class CustomProfile(Struct, frozen=True, kw_only=True):
    """A seccomp profile of your choice: one of the two."""

    localhost_profile: str | None = None
    """Profile file on the nodes, relative to the kubelet's seccomp folder."""
    runtime_default_profile: bool | None = None
    """Takes the profile that the container runtime brings."""


class VirtualMachineInstanceProfile(Struct, frozen=True, kw_only=True):
    """Seccomp profile of virt-launcher pods."""

    custom_profile: CustomProfile | None = None
    """The profile to use."""


class SeccompConfiguration(Struct, frozen=True, kw_only=True):
    """System call filters."""

    virtual_machine_instance_profile: VirtualMachineInstanceProfile | None = None
    """Filter of virt-launcher pods."""


class DiskVerification(Struct, frozen=True, kw_only=True):
    """Inspection of disk images before a guest starts."""

    memory_limit: Quantity
    """Memory that qemu-img may take; default 2000Mi."""


class LogVerbosity(Struct, frozen=True, kw_only=True):
    """How much the components log: 0 is least, 2 the default."""

    node_verbosity: Mapping[str, Int32] = NO_ENTRIES
    """Level of virt-handler by node name."""
    virt_api: int | None = field(default=None, name="virtAPI")
    """Level of virt-api."""
    virt_controller: int | None = None
    """Level of virt-controller."""
    virt_handler: int | None = None
    """Level of virt-handler on all nodes."""
    virt_launcher: int | None = None
    """Level of virt-launcher, for guests started later."""
    virt_operator: int | None = None
    """Level of virt-operator."""
    virt_synchronization_controller: int | None = None
    """Level of virt-synchronization-controller."""


class DeveloperConfiguration(Struct, frozen=True, kw_only=True):
    """Feature gates, overcommitment and settings for development."""

    cluster_profiler: bool | None = None
    """Opens the profiler calls of the control plane."""
    cpu_allocation_ratio: int | None = None
    """Virtual CPUs per CPU in a pod's request; default 10, so that one vCPU asks for 100m."""
    disabled_feature_gates: Annotated[tuple[str, ...], ATOMIC] = ()
    """Gates to switch off that are on by default; none may also be in featureGates."""
    disk_verification: DiskVerification | None = None
    """Limits for looking at disk images."""
    feature_gates: Annotated[tuple[str, ...], ATOMIC] = ()
    """Gates to switch on, such as HostDisk or Sidecar."""
    log_verbosity: LogVerbosity | None = None
    """Log level per component."""
    memory_overcommit: Annotated[int | None, mark(minimum=10)] = None
    """Guest memory as a percentage of the pod's memory request; default 100, more overcommits."""
    minimum_cluster_tsc_frequency: Int64 | None = field(
        default=None, name="minimumClusterTSCFrequency"
    )
    """Lowest TSC frequency of the cluster in Hz, instead of the one found on the nodes."""
    minimum_reserve_pvc_bytes: Int64 | None = field(default=None, name="minimumReservePVCBytes")
    """Bytes left free on a file system claim next to its disk image; default 131072."""
    node_selectors: Mapping[str, str] = NO_ENTRIES
    """Labels that every node with guests must have."""
    pvc_tolerate_less_space_up_to_percent: int | None = None
    """Percent by which a disk may fall short of its claim's size; default 10."""
    use_emulation: bool | None = None
    """Runs guests on nodes without KVM, emulated and slow; default false."""


class DisableFreePageReporting(Struct, frozen=True, kw_only=True):
    """Empty: its presence is the setting."""


class DisableSerialConsoleLog(Struct, frozen=True, kw_only=True):
    """Empty: its presence is the setting."""


class HypervisorConfiguration(Struct, frozen=True, kw_only=True):
    """A hypervisor on the nodes."""

    name: Annotated[str | None, enum("kvm", "hyperv-direct")] = None
    """kvm or hyperv-direct."""


class InstancetypeConfiguration(Struct, frozen=True, kw_only=True):
    """How machines keep their instance type."""

    reference_policy: Annotated[str | None, enum("reference", "expand", "expandAll"), NULLABLE] = (
        None
    )
    """reference (default) keeps it; expand and expandAll write its values into the
    machine instead.
    """


class InterfaceBindingMigration(Struct, frozen=True, kw_only=True):
    """How guests with the binding migrate."""

    method: str | None = None
    """link-refresh takes the guest's link down and up after the move; empty does nothing."""


class InterfaceBindingPlugin(Struct, frozen=True, kw_only=True):
    """A way to connect guests that is registered by the cluster's administrator."""

    compute_resource_overhead: ResourceRequirementsWithoutClaims | None = None
    """Resources that the compute container needs on top."""
    domain_attachment_type: str | None = None
    """Device that KubeVirt itself sets up: tap or managedTap."""
    downward_api: str | None = field(default=None, name="downwardAPI")
    """Data for the sidecar; only device-info."""
    migration: InterfaceBindingMigration | None = None
    """Guests with the binding can migrate, in this way."""
    network_attachment_definition: str | None = None
    """CNI plugin to run as well, as name or namespace/name of a NetworkAttachmentDefinition."""
    sidecar_image: str | None = None
    """Image of a container in the virt-launcher pod that edits the domain and may
    serve the guest.
    """


class KSMConfiguration(Struct, frozen=True, kw_only=True):
    """Merging of equal memory pages by the nodes' kernels."""

    node_label_selector: LabelSelector | None = None
    """Nodes that merge; an empty selector means all."""


class LiveUpdateConfiguration(Struct, frozen=True, kw_only=True):
    """How far running guests can grow."""

    max_cpu_sockets: Int32 | None = None
    """Most sockets of guests that set no maxSockets; else sockets times maxHotplugRatio."""
    max_guest: Quantity | None = None
    """Most memory of guests that set no maxGuest; else guest memory times maxHotplugRatio."""
    max_hotplug_ratio: Int32 | None = None
    """Growth allowed where no maximum is set; default 4."""


class NodeMediatedDeviceTypesConfig(Struct, frozen=True, kw_only=True):
    """Mediated devices for some nodes."""

    mediated_device_types: Annotated[tuple[str, ...], ATOMIC] = ()
    """Types to create there, such as nvidia-222."""
    mediated_devices_types: Annotated[tuple[str, ...], ATOMIC] = ()
    """Deprecated: use mediatedDeviceTypes."""
    node_selector: Mapping[str, str]
    """Labels of those nodes; one that fits several entries gets the types of all."""


class MediatedDevicesConfiguration(Struct, frozen=True, kw_only=True):
    """Mediated devices (vGPUs) that virt-handler creates on the nodes."""

    enabled: bool | None = None
    """Whether virt-handler creates and removes mediated devices; default true."""
    mediated_device_types: Annotated[tuple[str, ...], ATOMIC] = ()
    """Types for nodes that no entry of nodeMediatedDeviceTypes selects, such as nvidia-222."""
    mediated_devices_types: Annotated[tuple[str, ...], ATOMIC] = ()
    """Deprecated: use mediatedDeviceTypes."""
    node_mediated_device_types: Annotated[tuple[NodeMediatedDeviceTypesConfig, ...], ATOMIC] = ()
    """Other types for some nodes."""


class MediatedHostDevice(Struct, frozen=True, kw_only=True):
    """A type of mediated device that guests may use."""

    external_resource_provider: bool | None = None
    """A device plugin of others offers the resource; KubeVirt starts none."""
    mdev_name_selector: str
    """Name of the mediated device's type, such as GRID T4-1Q."""
    resource_name: str
    """Name that guests ask for, such as nvidia.com/GRID_T4-1Q."""


class PciHostDevice(Struct, frozen=True, kw_only=True):
    """A model of PCI device that guests may use."""

    external_resource_provider: bool | None = None
    """A device plugin of others offers the resource; KubeVirt starts none."""
    pci_vendor_selector: str
    """Hexadecimal vendor and product, such as 10DE:1EB8."""
    resource_name: str
    """Name that guests ask for, such as nvidia.com/TU104GL."""


class USBSelector(Struct, frozen=True, kw_only=True):
    """A model of USB device."""

    product: str
    """Hexadecimal product, such as 5678."""
    vendor: str
    """Hexadecimal vendor, such as 1234."""


class USBHostDevice(Struct, frozen=True, kw_only=True):
    """USB devices that guests may use together."""

    external_resource_provider: bool | None = None
    """A device plugin of others offers the resource; KubeVirt starts none."""
    resource_name: str
    """Name that guests ask for, such as kubevirt.io/storage."""
    selectors: Annotated[tuple[USBSelector, ...], ATOMIC] = ()
    """Models that make one unit of the resource: a guest gets one of each."""


class PermittedHostDevices(Struct, frozen=True, kw_only=True):
    """Devices of the nodes that guests may be given."""

    mediated_devices: Annotated[tuple[MediatedHostDevice, ...], ATOMIC] = ()
    """Mediated devices, such as vGPUs."""
    pci_host_devices: Annotated[tuple[PciHostDevice, ...], ATOMIC] = ()
    """PCI devices, passed through whole."""
    usb: Annotated[tuple[USBHostDevice, ...], ATOMIC] = ()
    """USB devices."""


class NetworkConfiguration(Struct, frozen=True, kw_only=True):
    """How guests reach the network."""

    binding: Mapping[str, InterfaceBindingPlugin] = NO_ENTRIES
    """Binding plugins by the name that interfaces use."""
    default_network_interface: str | None = None
    """Binding of guests that name no interface: bridge (default) or masquerade."""
    permit_bridge_interface_on_pod_network: bool | None = None
    """Whether the bridge binding may take the pod network; default true."""
    permit_slirp_interface: bool | None = None
    """Deprecated: slirp was removed; use masquerade or passtBinding."""


class PersistentReservationConfiguration(Struct, frozen=True, kw_only=True):
    """SCSI reservations of guests."""

    enabled: Annotated[bool | None, NULLABLE] = None
    """Whether virt-handler runs the helper that guests with reservations need; default false."""


class TokenBucketRateLimiter(Struct, frozen=True, kw_only=True):
    """Calls that a client may make: a bucket that refills steadily."""

    burst: int
    """Calls at once; 0 is the component's own default."""
    qps: float
    """Calls a second in the long run; 0 is the component's own default."""


class RateLimiter(Struct, frozen=True, kw_only=True):
    """Limit on calls to the Kubernetes API."""

    token_bucket_rate_limiter: TokenBucketRateLimiter | None = None
    """Steady rate with bursts."""


class RESTClientConfiguration(Struct, frozen=True, kw_only=True):
    """A component's client of the Kubernetes API."""

    rate_limiter: RateLimiter | None = None
    """How many calls it may make."""


class ReloadableComponentConfiguration(Struct, frozen=True, kw_only=True):
    """Settings that a component takes over without restart."""

    rest_client: RESTClientConfiguration | None = None
    """Its client of the Kubernetes API."""


class SMBiosConfiguration(Struct, frozen=True, kw_only=True):
    """What guests read as vendor data in SMBIOS."""

    family: str | None = None
    """Product family; default KubeVirt."""
    manufacturer: str | None = None
    """Maker of the system; default KubeVirt."""
    product: str | None = None
    """Product name; default None."""
    sku: str | None = None
    """Stock number."""
    version: str | None = None
    """Product version."""


class SupportContainerResources(Struct, frozen=True, kw_only=True):
    """Resources of one type of helper container."""

    type: str
    """container-disk, hotplug-disk, virtiofs, sidecar, guest-console-log or vmexport."""
    resources: ResourceRequirementsWithoutClaims
    """Requests and limits, each replacing the built-in one."""


class TLSConfiguration(Struct, frozen=True, kw_only=True):
    """What KubeVirt's servers accept."""

    ciphers: Annotated[tuple[str, ...], SET] = ()
    """Cipher suites by IANA name; only with minTLSVersion VersionTLS12 or lower."""
    min_tls_version: Annotated[
        str | None, enum("VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13")
    ] = field(default=None, name="minTLSVersion")
    """Oldest protocol: VersionTLS10 to VersionTLS13; default VersionTLS12."""


class VirtTemplateDeployment(Struct, frozen=True, kw_only=True):
    """The components for VirtualMachineTemplates."""

    enabled: Annotated[bool | None, NULLABLE] = None
    """Whether the operator installs them; default true, needs gate Template."""


class VirtualMachineOptions(Struct, frozen=True, kw_only=True):
    """Defaults of all guests."""

    disable_free_page_reporting: DisableFreePageReporting | None = None
    """If present, guests do not hand unused memory back to the node."""
    disable_serial_console_log: DisableSerialConsoleLog | None = None
    """If present, serial consoles are logged only for guests with logSerialConsole."""


class KubeVirtConfiguration(Struct, frozen=True, kw_only=True):
    """Settings of the installation; most take effect without restart."""

    additional_guest_memory_overhead_ratio: str | None = None
    """Factor on the memory a pod asks for beyond the guest's, such as 1.25; default 1."""
    api_configuration: ReloadableComponentConfiguration | None = None
    """Client of virt-api."""
    architecture_configuration: ArchConfiguration | None = None
    """Settings per architecture of the guest."""
    auto_cpu_limit_namespace_label_selector: LabelSelector | None = field(
        default=None, name="autoCPULimitNamespaceLabelSelector"
    )
    """Namespaces whose guests get a CPU limit equal to their vCPUs, dedicated CPUs aside."""
    changed_block_tracking_label_selectors: Annotated[
        ChangedBlockTrackingSelectors | None, NULLABLE
    ] = None
    """Machines that record changed blocks, as incremental backups need."""
    common_instancetypes_deployment: Annotated[CommonInstancetypesDeployment | None, NULLABLE] = (
        None
    )
    """The bundled instance types and preferences."""
    confidential_compute: Annotated[ConfidentialComputeConfiguration | None, NULLABLE] = None
    """Settings for guests with encrypted memory."""
    controller_configuration: ReloadableComponentConfiguration | None = None
    """Client of virt-controller."""
    cpu_model: str | None = None
    """CPU model of guests that name none; default host-model."""
    cpu_request: Quantity | None = None
    """CPU request of guests that name none; else vCPUs divided by cpuAllocationRatio."""
    default_runtime_class: str | None = None
    """RuntimeClass of virt-launcher pods."""
    developer_configuration: DeveloperConfiguration | None = None
    """Feature gates, overcommitment and settings for development."""
    emulated_machines: tuple[str, ...] = ()
    """Deprecated: use architectureConfiguration."""
    eviction_strategy: str | None = None
    """For guests without one: None (default), LiveMigrate, LiveMigrateIfPossible or External."""
    handler_configuration: ReloadableComponentConfiguration | None = None
    """Client of virt-handler."""
    hypervisors: Annotated[tuple[HypervisorConfiguration, ...], ATOMIC, mark(maxItems=1)] = ()
    """Hypervisor of the nodes, kvm if not set; needs gate ConfigurableHypervisor."""
    image_pull_policy: str | None = None
    """Pull policy of pods that run for users (launchers, exporters); spec.imagePullPolicy has the
    rest.
    """
    instancetype: Annotated[InstancetypeConfiguration | None, NULLABLE] = None
    """How machines keep their instance type."""
    ksm_configuration: KSMConfiguration | None = None
    """Merging of equal memory pages; if not set, nodes stay as they are."""
    live_update_configuration: LiveUpdateConfiguration | None = None
    """How far running guests can grow."""
    machine_type: str | None = None
    """Deprecated: use architectureConfiguration."""
    mediated_devices_configuration: MediatedDevicesConfiguration | None = None
    """Mediated devices to create on the nodes."""
    mem_balloon_stats_period: Int32 | None = None
    """Seconds between two memory reports of a guest; default 10, 0 switches them off."""
    migrations: MigrationConfiguration | None = None
    """Limits and methods of live migrations."""
    min_cpu_model: str | None = field(default=None, name="minCPUModel")
    """Deprecated: without effect; exclude models by obsoleteCPUModels."""
    network: NetworkConfiguration | None = None
    """How guests reach the network."""
    obsolete_cpu_models: Mapping[str, bool] = field(default=NO_ENTRIES, name="obsoleteCPUModels")
    """CPU models, each with value true, that nodes do not offer to guests."""
    ovmf_path: str | None = None
    """Deprecated: use architectureConfiguration."""
    permitted_host_devices: PermittedHostDevices | None = None
    """Devices of the nodes that guests may be given."""
    persistent_reservation_configuration: Annotated[
        PersistentReservationConfiguration | None, NULLABLE
    ] = None
    """SCSI reservations of guests."""
    role_aggregation_strategy: Annotated[str | None, enum("AggregateToDefault", "Manual")] = None
    """AggregateToDefault (default) adds KubeVirt's rights to admin, edit and view;
    Manual does not.
    """
    seccomp_configuration: SeccompConfiguration | None = None
    """System call filters."""
    selinux_launcher_type: str | None = None
    """SELinux type of virt-launcher pods; the runtime's if not set."""
    smbios: SMBiosConfiguration | None = None
    """Vendor data that guests read."""
    support_container_resources: Annotated[
        tuple[SupportContainerResources, ...], list_map("type")
    ] = ()
    """Resources of helper containers, by type."""
    supported_guest_agent_versions: tuple[str, ...] = ()
    """Deprecated: agents are judged by their commands; leave it empty."""
    tls_configuration: TLSConfiguration | None = None
    """What KubeVirt's servers accept."""
    virt_template_deployment: Annotated[VirtTemplateDeployment | None, NULLABLE] = None
    """The components for VirtualMachineTemplates."""
    virtual_machine_instances_per_node: int | None = None
    """Most guests on one node; default 1000."""
    virtual_machine_options: VirtualMachineOptions | None = None
    """Defaults of all guests."""
    vm_rollout_strategy: Annotated[str | None, enum("Stage", "LiveUpdate"), NULLABLE] = None
    """Changes reach a running guest at once if possible (LiveUpdate, default) or at restart
    (Stage).
    """
    vm_state_storage_class: str | None = None
    """StorageClass for the state of persistent TPM and EFI; else the default class."""
    webhook_configuration: ReloadableComponentConfiguration | None = None
    """Client of virt-api's webhooks."""
