"""What the plans ask about the guest itself."""

from dataclasses import dataclass
from functools import cached_property

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.interfaces import Interface
from kubevirt.virt.hostname import hostname_of
from kubevirt.virt.network.dhcp import (
    DhcpServer,
    V4Lease,
    V6Lease,
    ntp_servers,
    raw_options,
    search_list,
)
from kubevirt.virt.network.facts import PodFacts
from kubevirt.virt.network.queues import queues_for
from kubevirt.virt.topology import Topology, topology_of


@dataclass(frozen=True)
class NetworkGuest:
    vmi: VirtualMachineInstance

    @property
    def uid(self) -> str:
        return self.vmi.metadata.uid

    @property
    def identity(self) -> str:
        """The machine's own, if it has one: it outlives the instance, and so does a MAC from it."""
        firmware = self.vmi.spec.domain.firmware
        return (firmware.uuid if firmware else None) or self.uid

    @cached_property
    def topology(self) -> Topology:
        return topology_of(self.vmi.spec.domain)

    def queues(self, interface: Interface) -> int:
        return queues_for(self.vmi.spec.domain.devices, self.topology, interface)

    def index_of(self, interface: Interface) -> int:
        names = [each.name for each in self.vmi.spec.domain.devices.interfaces]
        return names.index(interface.name)

    def dhcp_server(
        self,
        interface: Interface,
        pod: PodFacts,
        *,
        link: str,
        mac: str,
        mtu: int,
        v4: V4Lease | None = None,
        v6: V6Lease | None = None,
    ) -> DhcpServer:
        """The same for every binding but for the addresses."""
        return DhcpServer(
            link=link,
            mac=mac,
            hostname=hostname_of(self.vmi),
            mtu=mtu,
            v4=v4,
            v6=v6,
            search=search_list(pod.search_domains, self.vmi.spec.subdomain),
            ntp_servers=ntp_servers(interface.dhcp_options),
            options=raw_options(interface.dhcp_options),
        )
