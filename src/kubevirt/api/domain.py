"""`DomainSpec`: the virtual hardware of one guest."""

from collections.abc import Mapping
from typing import Annotated

from kubevirt.api.clock import Clock
from kubevirt.api.cpu import CPU
from kubevirt.api.devices import Devices
from kubevirt.api.disks import DiskIOThreads
from kubevirt.api.features import Features
from kubevirt.api.firmware import Chassis, Firmware
from kubevirt.api.launch_security import LaunchSecurity
from kubevirt.api.memory import Memory
from kubevirt.api.struct import NO_ENTRIES, Quantity, Struct, enum


class ResourceRequirements(Struct, frozen=True, kw_only=True):
    """Compute resources for the launcher pod; KubeVirt adds its overhead."""

    limits: Mapping[str, Quantity] = NO_ENTRIES
    """Upper bounds by resource: cpu, memory."""
    overcommit_guest_overhead: bool | None = None
    """Leaves the overhead out of the memory request; denser, but risks OOM kills."""
    requests: Mapping[str, Quantity] = NO_ENTRIES
    """Amounts to reserve by resource; computed from vCPUs and guest memory if not set."""


class ResourceRequirementsWithoutClaims(Struct, frozen=True, kw_only=True):
    """Compute resources of a helper container."""

    limits: Mapping[str, Quantity] = NO_ENTRIES
    """Upper bounds by resource."""
    requests: Mapping[str, Quantity] = NO_ENTRIES
    """Amounts to reserve by resource; the limits if not set."""


class Machine(Struct, frozen=True, kw_only=True):
    """Board that QEMU emulates."""

    type: str | None = None
    """QEMU machine type: q35 and pc-q35-* on amd64, virt on arm64, s390-ccw-virtio on s390x."""


class DomainSpec(Struct, frozen=True, kw_only=True):
    """Virtual hardware of the guest."""

    chassis: Chassis | None = None
    """Enclosure data in SMBIOS."""
    clock: Clock | None = None
    """Hardware clock and timers."""
    cpu: CPU | None = None
    """Virtual processors."""
    devices: Devices
    """Disks, network cards and all other devices."""
    features: Features | None = None
    """Platform features such as ACPI and Hyper-V enlightenments."""
    firmware: Firmware | None = None
    """BIOS or EFI, direct kernel boot, identity."""
    io_threads: DiskIOThreads | None = None
    """Size of the I/O thread pool."""
    io_threads_policy: str | None = None
    """Threads for disk I/O: shared, auto or supplementalPool; none if not set."""
    launch_security: LaunchSecurity | None = None
    """Encrypted memory (SEV, SEV-SNP, TDX)."""
    machine: Machine | None = None
    """Machine type; cluster default if not set."""
    memory: Memory | None = None
    """Size and backing of the memory."""
    reboot_policy: Annotated[str | None, enum("Reboot", "Terminate")] = None
    """Reboot (default) restarts in place; Terminate ends the instance, so that changes take effect.
    """
    resources: ResourceRequirements = ResourceRequirements()
    """CPU and memory of the launcher pod."""
