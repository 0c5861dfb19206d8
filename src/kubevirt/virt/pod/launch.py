"""One launch: the instance, the settings and what is derived from both and asked often."""

from dataclasses import dataclass, field
from functools import cached_property

from kubevirt.api.devices import Devices
from kubevirt.api.domain import DomainSpec
from kubevirt.api.firmware import KernelBootContainer
from kubevirt.api.instance import VirtualMachineInstance, VirtualMachineInstanceSpec
from kubevirt.virt.layout import Layout
from kubevirt.virt.memory import guest_bytes
from kubevirt.virt.names import file_name
from kubevirt.virt.pod.config import PodConfig
from kubevirt.virt.topology import Topology, topology_of


@dataclass(frozen=True)
class Launch:
    vmi: VirtualMachineInstance
    config: PodConfig
    block_volumes: frozenset[str] = frozenset()
    """Volumes whose claims are block devices."""
    layout: Layout = field(default_factory=Layout)

    @property
    def spec(self) -> VirtualMachineInstanceSpec:
        return self.vmi.spec

    @property
    def domain(self) -> DomainSpec:
        return self.spec.domain

    @property
    def devices(self) -> Devices:
        return self.domain.devices

    @cached_property
    def uid(self) -> str:
        return file_name("uid", self.vmi.metadata.uid)

    @cached_property
    def name(self) -> str:
        return file_name("instance", self.vmi.metadata.name)

    @cached_property
    def namespace(self) -> str:
        return file_name("namespace", self.vmi.metadata.namespace or "default")

    @cached_property
    def topology(self) -> Topology:
        return topology_of(self.domain)

    @cached_property
    def guest_bytes(self) -> int:
        return guest_bytes(self.domain)

    @property
    def is_dedicated(self) -> bool:
        """Its vCPUs share no CPU with anybody."""
        return bool(self.domain.cpu and self.domain.cpu.dedicated_cpu_placement)

    @property
    def kernel_image(self) -> KernelBootContainer | None:
        firmware = self.domain.firmware
        boot = firmware.kernel_boot if firmware else None
        return boot.container if boot else None
