"""Network interfaces of a guest and the networks they attach to."""

from typing import Annotated

from msgspec import field

from kubevirt.api.resource_claims import ClaimRequest
from kubevirt.api.struct import ATOMIC, Int32, Struct


class DHCPPrivateOptions(Struct, frozen=True, kw_only=True):
    """One DHCP option for private use."""

    option: int
    """Option number, 224 to 254."""
    value: str
    """Value, sent as text."""


class DHCPOptions(Struct, frozen=True, kw_only=True):
    """Additions to what KubeVirt's DHCP server tells the guest."""

    boot_file_name: str | None = None
    """File to boot over the network (option 67)."""
    ntp_servers: tuple[str, ...] = ()
    """IPv4 addresses of time servers (option 42)."""
    private_options: tuple[DHCPPrivateOptions, ...] = ()
    """Options of the site's own."""
    tftp_server_name: str | None = None
    """Server for network boot (option 66)."""


class DeprecatedInterfaceMacvtap(Struct, frozen=True, kw_only=True):
    """Deprecated: discontinued in v1.3; use a binding plugin."""


class DeprecatedInterfacePasst(Struct, frozen=True, kw_only=True):
    """Deprecated: discontinued in v1.3; use passtBinding."""


class DeprecatedInterfaceSlirp(Struct, frozen=True, kw_only=True):
    """Deprecated: discontinued in v1.3; use masquerade or passtBinding."""


class InterfaceBridge(Struct, frozen=True, kw_only=True):
    """Connects by a bridge in the pod; has no settings."""


class InterfaceMasquerade(Struct, frozen=True, kw_only=True):
    """Connects by address translation in the pod; has no settings."""


class InterfacePasstBinding(Struct, frozen=True, kw_only=True):
    """Connects by passt in user space; has no settings."""


class InterfaceSRIOV(Struct, frozen=True, kw_only=True):
    """Hands a virtual function of the node's card to the guest; has no settings."""


class PluginBinding(Struct, frozen=True, kw_only=True):
    """Network binding plugin to connect with."""

    name: str
    """Name under which the cluster's configuration registers the plugin."""


class Port(Struct, frozen=True, kw_only=True):
    """Port on which the guest can be reached."""

    name: str | None = None
    """Name that services can use; unique in the pod."""
    port: Int32
    """Port number, 1 to 65535."""
    protocol: str | None = None
    """TCP (default) or UDP."""


class PortRange(Struct, frozen=True, kw_only=True):
    """Consecutive ports on which the guest can be reached."""

    end: Int32
    """Last port, not below start."""
    protocol: str
    """TCP or UDP."""
    start: Int32
    """First port, 1 to 65535."""


class Interface(Struct, frozen=True, kw_only=True):
    """Network card of the guest with exactly one way of connection."""

    name: str
    """Network of the same name that the card is attached to."""
    acpi_index: int | None = None
    """Fixes the name in the guest (eno1 for 1); unique, 1 to 16383."""
    binding: PluginBinding | None = None
    """Connects by a registered plugin."""
    boot_order: int | None = None
    """Place in the boot sequence, from 1; unique over disks and interfaces."""
    bridge: InterfaceBridge | None = None
    """Same link layer as the network; on the pod network the guest takes over the pod's address."""
    dhcp_options: DHCPOptions | None = None
    """Extra DHCP options for the guest."""
    mac_address: str | None = None
    """MAC address, like 02:00:5e:10:00:01; chosen automatically if not set."""
    macvtap: DeprecatedInterfaceMacvtap | None = None
    """Deprecated: not supported any more; use a binding plugin."""
    masquerade: InterfaceMasquerade | None = None
    """Hides the guest behind the pod's address; pod network only, and can migrate."""
    model: str | None = None
    """virtio (default), or an emulated card: e1000e, e1000, rtl8139, igb, pcnet, ne2k_pci."""
    passt: DeprecatedInterfacePasst | None = None
    """Deprecated: not supported any more; use passtBinding."""
    passt_binding: InterfacePasstBinding | None = None
    """User-space networking by passt; takes 250Mi more memory."""
    pci_address: str | None = None
    """Fixed place on the guest's PCI bus, like 0000:08:00.0"""
    port_ranges: Annotated[tuple[PortRange, ...], ATOMIC] = ()
    """Port ranges let through to the guest; masquerade only, excludes ports, gate PortRangesSpec.
    """
    ports: tuple[Port, ...] = ()
    """Ports let through to the guest; all if none is listed. Excludes portRanges."""
    slirp: DeprecatedInterfaceSlirp | None = None
    """Deprecated: not supported any more; use masquerade or passtBinding."""
    sriov: InterfaceSRIOV | None = None
    """Passes a virtual function through; the network names the device pool."""
    state: str | None = None
    """up (default), down to cut the link, absent to unplug the card."""
    tag: str | None = None
    """Label for this card in the config drive's metadata."""


class MultusNetwork(Struct, frozen=True, kw_only=True):
    """Secondary network by Multus."""

    default: bool | None = None
    """Takes the place of the cluster's pod network."""
    network_name: str
    """NetworkAttachmentDefinition, as name or namespace/name; in the guest's namespace by default.
    """


class PodNetwork(Struct, frozen=True, kw_only=True):
    """The pod's own network; the ranges matter for masquerade only."""

    vm_i_pv6_network_cidr: str | None = field(default=None, name="vmIPv6NetworkCIDR")
    """IPv6 range between pod and guest; fd10:0:2::/120 if not set."""
    vm_network_cidr: str | None = field(default=None, name="vmNetworkCIDR")
    """IPv4 range between pod and guest; 10.0.2.0/24 if not set."""


class Network(Struct, frozen=True, kw_only=True):
    """A network that an interface can use; exactly one source."""

    name: str
    """Unique name, a DNS label; interfaces refer to it."""
    multus: MultusNetwork | None = None
    """Secondary network by Multus."""
    pod: PodNetwork | None = None
    """The pod's own network; at most one."""
    resource_claim: ClaimRequest | None = None
    """Device from dynamic resource allocation; gate NetworkDevicesWithDRA."""
