"""What the cluster offers and wants, as far as a launcher's pod depends on it.

A value, so that the same instance and the same settings always give the same pod. Nobody asks here in
which home the pod will live: only what it has.
"""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final

import msgspec

from kubevirt.api.configuration import (
    ArchSpecificConfiguration,
    DeveloperConfiguration,
    KubeVirtConfiguration,
)
from kubevirt.api.core.container import SeccompProfile
from kubevirt.api.domain import ResourceRequirementsWithoutClaims
from kubevirt.api.struct import NO_ENTRIES
from kubevirt.base.errors import ConfigError
from kubevirt.virt import gates
from kubevirt.virt.errors import shown

KVM: Final = "devices.kubevirt.io/kvm"
TUN: Final = "devices.kubevirt.io/tun"
VHOST_NET: Final = "devices.kubevirt.io/vhost-net"
VHOST_VSOCK: Final = "devices.kubevirt.io/vhost-vsock"

OVMF: Final = "/usr/share/OVMF"
DEFAULT_VERBOSITY: Final = 2
RUNTIME_DEFAULT: Final = SeccompProfile(type="RuntimeDefault")
MOST_OVERHEAD_RATIO: Final = 100


class PodConfig(msgspec.Struct, frozen=True, kw_only=True):
    launcher_image: str
    """Of virt-launcher; the helper of container disks is copied from it."""
    pull_policy: str | None = None
    """For the launcher's image; the server's default if not set."""
    emulation: bool = False
    """Whether guests are emulated. Decided for the whole pod: what the node has is not looked at."""
    image_volumes: bool = False
    """Container disks come as `image` volumes instead of through helper containers."""
    devices: frozenset[str] = frozenset({TUN})
    """Resources that nodes advertise, and that are asked for where they help."""
    cpu_allocation_ratio: int = 10
    """vCPUs for each CPU that is requested."""
    memory_overcommit: int = 100
    """Guest memory in percent of what is requested for it."""
    overhead_ratio: str | None = None
    """Factor on the memory beside the guest's, such as 1.25."""
    claim_tolerance_percent: int = 10
    """How much smaller than its claim a file system may be."""
    node_selector: Mapping[str, str] = NO_ENTRIES
    """Labels of all nodes that may have guests."""
    runtime_class: str | None = None
    ovmf_path: str = OVMF
    seccomp: SeccompProfile = RUNTIME_DEFAULT
    selinux_type: str | None = None
    verbosity: int = DEFAULT_VERBOSITY
    """Of the launcher's log."""
    pause_gate: bool = True
    """Whether the pod is ready only while its guest is not paused, as upstream has it. virt-controller then
    writes the condition `kubevirt.io/virtual-machine-unpaused`: one write more for each guest.
    """
    host_disks: bool = False
    """Whether guests may use files of their node: gate HostDisk."""
    support: Mapping[str, ResourceRequirementsWithoutClaims] = MappingProxyType({})
    """Resources of helper containers, by their type, where the built-in ones will not do."""

    @classmethod
    def of(
        cls,
        configuration: KubeVirtConfiguration,
        launcher_image: str,
        *,
        architecture: str = "amd64",
        devices: frozenset[str] = frozenset({TUN}),
    ) -> "PodConfig":
        """From the settings of the KubeVirt object; `devices` is what nodes say they have."""
        developer = configuration.developer_configuration or DeveloperConfiguration()
        logs = developer.log_verbosity
        tolerated = developer.pvc_tolerate_less_space_up_to_percent
        return cls(
            launcher_image=launcher_image,
            pull_policy=configuration.image_pull_policy,
            emulation=bool(developer.use_emulation),
            image_volumes=gates.is_on(configuration, gates.IMAGE_VOLUME),
            devices=devices,
            cpu_allocation_ratio=max(developer.cpu_allocation_ratio or 10, 1),
            memory_overcommit=max(developer.memory_overcommit or 100, 1),
            overhead_ratio=configuration.additional_guest_memory_overhead_ratio,
            claim_tolerance_percent=10 if tolerated is None else tolerated,
            node_selector=developer.node_selectors,
            runtime_class=configuration.default_runtime_class,
            ovmf_path=_ovmf_path(configuration, architecture),
            seccomp=_seccomp(configuration),
            selinux_type=configuration.selinux_launcher_type,
            verbosity=_level(logs.virt_launcher if logs else None),
            host_disks=gates.is_on(configuration, gates.HOST_DISK),
            support={
                each.type: each.resources for each in configuration.support_container_resources
            },
        )

    @property
    def overhead_factor(self) -> Decimal:
        if not self.overhead_ratio:
            return Decimal(1)
        try:
            factor = Decimal(self.overhead_ratio)
        except InvalidOperation:
            factor = Decimal("NaN")
        if not factor.is_finite() or not 0 < factor <= MOST_OVERHEAD_RATIO:
            raise ConfigError(
                f"additionalGuestMemoryOverheadRatio of the KubeVirt object is "
                f"{shown(self.overhead_ratio)}; write a number between 0 and "
                f"{MOST_OVERHEAD_RATIO}, such as 1.25"
            )
        return factor


def _level(verbosity: int | None) -> int:
    return DEFAULT_VERBOSITY if verbosity is None else verbosity


def _ovmf_path(configuration: KubeVirtConfiguration, architecture: str) -> str:
    each = configuration.architecture_configuration
    specific: ArchSpecificConfiguration | None = getattr(each, architecture, None) if each else None
    return (specific and specific.ovmf_path) or configuration.ovmf_path or OVMF


def _seccomp(configuration: KubeVirtConfiguration) -> SeccompProfile:
    """The runtime's own unless a file of the nodes is named: a launcher needs nothing special."""
    settings = configuration.seccomp_configuration
    instance = settings.virtual_machine_instance_profile if settings else None
    custom = instance.custom_profile if instance else None
    if custom and custom.localhost_profile:
        return SeccompProfile(type="Localhost", localhost_profile=custom.localhost_profile)
    return RUNTIME_DEFAULT
