"""`Guest`: the spec, the facts, and what follows from both. Every noun takes one and returns its part."""

from dataclasses import dataclass
from functools import cached_property

from kubevirt.api.devices import Devices
from kubevirt.api.domain import DomainSpec
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.launch_security import LaunchSecurity
from kubevirt.virt.architecture import AMD64, Architecture, architecture_of
from kubevirt.virt.convert.facts import Facts
from kubevirt.virt.convert.placement import Placement, place
from kubevirt.virt.domain.alias import USER_PREFIX, Alias
from kubevirt.virt.names import alias_name
from kubevirt.virt.topology import Topology, topology_of


@dataclass(frozen=True)
class Guest:
    """A conversion in progress; it never changes, and derives each thing once."""

    vmi: VirtualMachineInstance
    facts: Facts

    @property
    def domain(self) -> DomainSpec:
        return self.vmi.spec.domain

    @property
    def devices(self) -> Devices:
        return self.vmi.spec.domain.devices

    @property
    def uid(self) -> str:
        return self.vmi.metadata.uid

    @cached_property
    def architecture(self) -> Architecture:
        name = self.vmi.spec.architecture
        return architecture_of(name) if name else AMD64

    @cached_property
    def topology(self) -> Topology:
        return topology_of(self.domain)

    @cached_property
    def placement(self) -> Placement | None:
        """Host CPUs for the guest's threads, if it has CPUs of its own."""
        cpu, host = self.domain.cpu, self.facts.host
        if cpu is None or not cpu.dedicated_cpu_placement:
            return None
        return place(
            self.topology,
            host.cpu_set,
            host.numa_nodes,
            within_nodes=self.has_numa_passthrough,
            with_emulator=bool(cpu.isolate_emulator_thread),
        )

    @property
    def has_numa_passthrough(self) -> bool:
        cpu = self.domain.cpu
        return bool(cpu and cpu.numa and cpu.numa.guest_mapping_passthrough is not None)

    @cached_property
    def virtio(self) -> str:
        """Model of every virtio device."""
        return self.architecture.virtio(
            transitional=bool(self.devices.use_virtio_transitional),
        )

    @property
    def has_efi(self) -> bool:
        firmware = self.domain.firmware
        return bool(firmware and firmware.bootloader and firmware.bootloader.efi is not None)

    @property
    def has_graphics(self) -> bool:
        return self.devices.autoattach_graphics_device is not False

    @property
    def has_serial_console(self) -> bool:
        return self.devices.autoattach_serial_console is not False

    @property
    def has_dedicated_cpus(self) -> bool:
        return bool(self.domain.cpu and self.domain.cpu.dedicated_cpu_placement)

    @property
    def has_hugepages(self) -> bool:
        return bool(self.domain.memory and self.domain.memory.hugepages)

    @property
    def launch_security(self) -> LaunchSecurity | None:
        return self.domain.launch_security

    @property
    def iommu(self) -> bool | None:
        """On where the device must not reach memory that the guest has not shared with it."""
        security = self.launch_security
        if security is None or security.tdx is not None:
            return None
        is_amd_encrypted = security.sev is not None or security.snp is not None
        return True if is_amd_encrypted or self.architecture.name == "s390x" else None


def alias(thing: str, name: str, prefix: str = "") -> Alias:
    """The name of a device in events and in hotplug: the one from the manifest."""
    return Alias(name=f"{USER_PREFIX}{prefix}{alias_name(thing, name)}")


def is_on(enabled: bool | None) -> bool:  # noqa: FBT001  # the switch itself is the subject
    """A switch of the API that stands on unless it says false."""
    return enabled is not False
