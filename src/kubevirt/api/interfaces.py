"""Network interfaces of a guest and the networks they attach to."""

from typing import Annotated

from msgspec import field

from kubevirt.api.resource_claims import ClaimRequest
from kubevirt.api.struct import ATOMIC, Int32, Struct


class DHCPPrivateOptions(Struct, frozen=True, kw_only=True):
    """…"""

    option: Int32
    value: str


class DHCPOptions(Struct, frozen=True, kw_only=True):
    """…"""

    boot_file_name: str | None = None
    ntp_servers: tuple[str, ...] = ()
    private_options: tuple[DHCPPrivateOptions, ...] = ()
    tftp_server_name: str | None = None


class DeprecatedInterfaceMacvtap(Struct, frozen=True, kw_only=True):
    """…"""


class DeprecatedInterfacePasst(Struct, frozen=True, kw_only=True):
    """…"""


class DeprecatedInterfaceSlirp(Struct, frozen=True, kw_only=True):
    """…"""


class InterfaceBridge(Struct, frozen=True, kw_only=True):
    """…"""


class InterfaceMasquerade(Struct, frozen=True, kw_only=True):
    """…"""


class InterfacePasstBinding(Struct, frozen=True, kw_only=True):
    """…"""


class InterfaceSRIOV(Struct, frozen=True, kw_only=True):
    """…"""


class PluginBinding(Struct, frozen=True, kw_only=True):
    """…"""

    name: str


class Port(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    port: Int32
    protocol: str | None = None


class PortRange(Struct, frozen=True, kw_only=True):
    """…"""

    end: Int32
    protocol: str
    start: Int32


class Interface(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    acpi_index: Int32 | None = None
    binding: PluginBinding | None = None
    boot_order: Int32 | None = None
    bridge: InterfaceBridge | None = None
    dhcp_options: DHCPOptions | None = None
    mac_address: str | None = None
    macvtap: DeprecatedInterfaceMacvtap | None = None
    masquerade: InterfaceMasquerade | None = None
    model: str | None = None
    passt: DeprecatedInterfacePasst | None = None
    passt_binding: InterfacePasstBinding | None = None
    pci_address: str | None = None
    port_ranges: Annotated[tuple[PortRange, ...], ATOMIC] = ()
    ports: tuple[Port, ...] = ()
    slirp: DeprecatedInterfaceSlirp | None = None
    sriov: InterfaceSRIOV | None = None
    state: str | None = None
    tag: str | None = None


class MultusNetwork(Struct, frozen=True, kw_only=True):
    """…"""

    default: bool | None = None
    network_name: str


class PodNetwork(Struct, frozen=True, kw_only=True):
    """…"""

    vm_i_pv6_network_cidr: str | None = field(default=None, name="vmIPv6NetworkCIDR")
    vm_network_cidr: str | None = field(default=None, name="vmNetworkCIDR")


class Network(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    multus: MultusNetwork | None = None
    pod: PodNetwork | None = None
    resource_claim: ClaimRequest | None = None
