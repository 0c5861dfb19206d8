"""Network cards: one binding, one network, a name that Linux takes."""

import re
from collections.abc import Mapping
from typing import Final

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.interfaces import Interface, Network
from kubevirt.virt.convert.interfaces import DISCONTINUED, MODELS, STATES
from kubevirt.virt.errors import SpecError
from kubevirt.virt.network.addresses import BRIDGE_MAC, guest_mac
from kubevirt.virt.network.dhcp import ntp_servers, raw_options
from kubevirt.virt.validate.causes import Causes, duplicate, invalid, not_supported, plain, required
from kubevirt.virt.validate.ports import port_causes
from kubevirt.virt.validate.rules import Rules

BINDINGS: Final = ("bridge", "masquerade", "sriov", "binding", "passt_binding", *DISCONTINUED)
ACPI_INDEX_LIMIT: Final = 16 * 1024 - 1
_NAME: Final = re.compile(r"[A-Za-z0-9-_]+")
_PCI: Final = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[01][0-9a-fA-F]\.[0-7]")


def interface_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    here = f"{field}.domain.devices.interfaces"
    networks = {network.name: network for network in spec.networks}
    names: set[str] = set()
    macs: dict[str, int] = {}
    indexes: set[int] = set()
    port_names: set[str] = set()
    for number, interface in enumerate(spec.domain.devices.interfaces):
        at = f"{here}[{number}]"
        if interface.name in names:
            yield duplicate(
                f"{at}.name", "Only one interface can be connected to one specific network"
            )
        names.add(interface.name)
        yield from _interface(interface, at)
        yield from _binding(interface, at, networks, rules)
        yield from _mac(interface, at, macs, number)
        yield from _acpi_index(interface, at, indexes)
        yield from port_causes(interface, at, port_names, rules)


def _interface(interface: Interface, at: str) -> Causes:
    if not _NAME.fullmatch(interface.name):
        yield invalid(
            f"{at}.name",
            "Network interface name can only contain alphabetical characters, numbers, dashes (-) or "
            "underscores (_)",
        )
    if interface.model and interface.model not in MODELS:
        yield not_supported(
            f"{at}.model",
            f"interface {at}.name uses model {plain(interface.model)} that is not supported.",
        )
    if interface.state and interface.state not in STATES:
        yield invalid(
            f"{at}.state",
            f"logical {plain(interface.name)} interface's state "
            f"'{plain(interface.state)}' is invalid; use one of {', '.join(STATES)}",
        )
    if interface.pci_address and not _PCI.fullmatch(interface.pci_address):
        yield invalid(
            f"{at}.pciAddress",
            f"interface {at}.name has malformed PCI address ({plain(interface.pci_address)}).",
        )
    try:
        ntp_servers(interface.dhcp_options)
    except SpecError as error:
        yield invalid(f"{at}.dhcpOptions.ntpServers", str(error))
    try:
        raw_options(interface.dhcp_options)
    except SpecError as error:
        yield invalid(f"{at}.dhcpOptions.privateOptions", str(error))


def _binding(
    interface: Interface, at: str, networks: Mapping[str, Network], rules: Rules
) -> Causes:
    network = networks.get(interface.name)
    if network is None:
        yield invalid(f"{at}.name", f"{at}.name '{plain(interface.name)}' not found.")
    given = [name for name in BINDINGS if getattr(interface, name) is not None]
    if interface.state != "absent" and len(given) != 1:
        yield invalid(
            at,
            f"logical {plain(interface.name)} interface must have exactly one binding method or "
            f"binding plugin",
        )
    for name in given:
        if name in DISCONTINUED:
            yield invalid(f"{at}.{name}", DISCONTINUED[name])
    if interface.binding is not None and not interface.binding.name:
        yield required(f"{at}.binding.name", f"{at}.binding.name is a required field")
    on_pod = network is not None and network.pod is not None
    if network is not None and interface.masquerade is not None and not on_pod:
        yield invalid(f"{at}.name", "Masquerade interface only implemented with pod network")
    if on_pod and interface.bridge is not None and not rules.settings.bridge_on_pod_network:
        yield invalid(
            f"{at}.name", "Bridge on pod network configuration is not enabled under kubevirt-config"
        )


def _mac(interface: Interface, at: str, macs: dict[str, int], number: int) -> Causes:
    if not interface.mac_address:
        return
    here = f"{at}.macAddress"
    try:
        mac = guest_mac(interface.mac_address, f"interface {at}.name")
    except SpecError as error:
        if interface.mac_address.replace("-", ":").lower() == BRIDGE_MAC:
            yield invalid(
                here,
                "The requested MAC address is reserved for the in-pod bridge. Please choose another "
                "one.",
            )
        else:
            yield invalid(here, str(error))
        return
    if mac in macs:
        other = here.replace(f"[{number}]", f"[{macs[mac]}]")
        yield duplicate(here, f"{here} and {other} must not have the same MAC address.")
    macs.setdefault(mac, number)


def _acpi_index(interface: Interface, at: str, taken: set[int]) -> Causes:
    index = interface.acpi_index
    if not index:
        return
    here = f"{at}.acpiIndex"
    if not 0 < index <= ACPI_INDEX_LIMIT:
        yield invalid(here, f"{here} must be in range 1 to {ACPI_INDEX_LIMIT}, if specified")
    elif index in taken:
        yield duplicate(here, f"{here} must be unique; {index} is taken by another interface")
    taken.add(index)
