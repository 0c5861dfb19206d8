"""`DomainSpec`: the virtual hardware of one guest."""

from collections.abc import Mapping

from kubevirt.api.clock import Clock
from kubevirt.api.cpu import CPU
from kubevirt.api.devices import Devices
from kubevirt.api.disks import DiskIOThreads
from kubevirt.api.features import Features
from kubevirt.api.firmware import Chassis, Firmware
from kubevirt.api.launch_security import LaunchSecurity
from kubevirt.api.memory import Memory
from kubevirt.api.struct import NO_ENTRIES, Quantity, Struct


class ResourceRequirements(Struct, frozen=True, kw_only=True):
    """…"""

    limits: Mapping[str, Quantity] = NO_ENTRIES
    overcommit_guest_overhead: bool | None = None
    requests: Mapping[str, Quantity] = NO_ENTRIES


class ResourceRequirementsWithoutClaims(Struct, frozen=True, kw_only=True):
    """…"""

    limits: Mapping[str, Quantity] = NO_ENTRIES
    requests: Mapping[str, Quantity] = NO_ENTRIES


class Machine(Struct, frozen=True, kw_only=True):
    """…"""

    type: str | None = None


class DomainSpec(Struct, frozen=True, kw_only=True):
    """…"""

    chassis: Chassis | None = None
    clock: Clock | None = None
    cpu: CPU | None = None
    devices: Devices
    features: Features | None = None
    firmware: Firmware | None = None
    io_threads: DiskIOThreads | None = None
    io_threads_policy: str | None = None
    launch_security: LaunchSecurity | None = None
    machine: Machine | None = None
    memory: Memory | None = None
    reboot_policy: str | None = None
    resources: ResourceRequirements = ResourceRequirements()
