"""Network cards that hang on a tap; those of SR-IOV are host devices."""

import re
from typing import Final

from kubevirt.api.interfaces import Interface
from kubevirt.virt.convert.boot_order import boot_order
from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.convert.guest import Guest, alias
from kubevirt.virt.convert.pci import pci_address
from kubevirt.virt.domain import interface as xml
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.network.queues import VIRTIO, model_of, queues_for

MODELS: Final = ("e1000", "e1000e", "igb", "ne2k_pci", "pcnet", "rtl8139", VIRTIO)
STATES: Final = ("up", "down", "absent")
DISCONTINUED: Final = {
    "slirp": "Slirp interface support has been discontinued since v1.3",
    "macvtap": "Macvtap network binding has been discontinued since v1.3",
    "passt": "Passt network binding has been discontinued since v1.3",
}
_MAC: Final = re.compile(r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}")


def interfaces(guest: Guest) -> tuple[xml.Interface, ...]:
    networks = {network.name for network in guest.vmi.spec.networks}
    cards = []
    for interface in guest.devices.interfaces:
        if interface.state == "absent":
            continue
        if interface.name not in networks:
            raise SpecError(f"failed to find network {shown(interface.name)}; add it to networks")
        if interface.sriov is None:
            cards.append(_card(guest, interface))
    return tuple(cards)


def _card(guest: Guest, interface: Interface) -> xml.Interface:
    facts = _facts(guest, interface)
    model = model_of(interface)
    if model not in MODELS:
        raise SpecError(
            f"interface {shown(interface.name)} uses model {shown(model)} that is not supported.; "
            f"use one of {', '.join(MODELS)}"
        )
    thing = f"interface {shown(interface.name)}"
    return xml.Interface(
        type="ethernet",
        mac=_mac(interface, facts),
        target=xml.InterfaceTarget(dev=facts.tap, managed=False),
        model=xml.InterfaceModel(type=guest.virtio if model == VIRTIO else model),
        driver=_driver(guest, interface, facts),
        mtu=xml.Mtu(size=facts.mtu) if facts.mtu else None,
        link=_link(interface),
        boot=boot_order(interface.boot_order),
        rom=_rom(guest, interface),
        acpi=xml.AcpiIndex(index=interface.acpi_index) if interface.acpi_index else None,
        alias=alias("interface", interface.name),
        address=pci_address(interface.pci_address, thing) if interface.pci_address else None,
    )


def _facts(guest: Guest, interface: Interface) -> InterfaceFacts:
    for name, sentence in DISCONTINUED.items():
        if getattr(interface, name) is not None:
            raise UnsupportedError(
                f"interface {shown(interface.name)}: {sentence}; use masquerade or bridge"
            )
    facts = guest.facts.interfaces.get(interface.name)
    if facts is None:
        raise UnsupportedError(
            f"interface {shown(interface.name)} has no tap device in this pod: its binding is not "
            f"available here; use masquerade or bridge"
        )
    return facts


def _mac(interface: Interface, facts: InterfaceFacts) -> xml.Mac | None:
    address = interface.mac_address or facts.mac
    if not address:
        return None
    # Manifests may separate the bytes by dashes, as Windows prints them.
    address = address.replace("-", ":").lower()
    if not _MAC.fullmatch(address):
        raise SpecError(
            f"interface {shown(interface.name)} has the MAC address {shown(address)}; "
            f"one looks like 02:00:5e:10:00:01"
        )
    return xml.Mac(address=address)


def _driver(
    guest: Guest, interface: Interface, facts: InterfaceFacts
) -> xml.InterfaceDriver | None:
    queues = queues_for(guest.devices, guest.topology, interface)
    iommu = guest.iommu if model_of(interface) == VIRTIO else None
    if not queues and not iommu:
        return None
    name = "vhost" if facts.vhost else "qemu"
    return xml.InterfaceDriver(name=name, queues=queues or None, iommu=iommu)


def _link(interface: Interface) -> xml.LinkState | None:
    if interface.state is not None and interface.state not in STATES:
        raise SpecError(
            f"interface {shown(interface.name)} has the state {shown(interface.state)}; "
            f"use one of {', '.join(STATES)}"
        )
    return xml.LinkState(state="down") if interface.state == "down" else None


def _rom(guest: Guest, interface: Interface) -> xml.Rom | None:
    """Network boot costs time at each start, so only who asked for it has the ROM."""
    if not guest.architecture.pci:
        return None
    wants_boot = interface.boot_order is not None and not guest.iommu
    return None if wants_boot else xml.Rom(enabled=False)
