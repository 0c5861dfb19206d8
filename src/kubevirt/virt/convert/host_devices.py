"""Devices of the node: GPUs, others, and the virtual functions of SR-IOV network cards."""

import re
from typing import Final

from kubevirt.api.devices import GPU, VGPUOptions
from kubevirt.virt.convert.boot_order import boot_order
from kubevirt.virt.convert.facts import HostDeviceFacts
from kubevirt.virt.convert.guest import Guest, alias, is_on
from kubevirt.virt.convert.pci import pci_address
from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.hostdev import Hostdev, HostdevSource
from kubevirt.virt.errors import SpecError, UnsupportedError, shown

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_USB: Final = re.compile(r"(?P<bus>[0-9]{1,3}):(?P<device>[0-9]{1,3})")


def hostdevs(guest: Guest) -> tuple[Hostdev, ...]:
    return (
        *(_host_device(guest, spec.name) for spec in guest.devices.host_devices),
        *(_gpu(guest, spec) for spec in guest.devices.gpus),
        *_virtual_functions(guest),
    )


def _host_device(guest: Guest, name: str) -> Hostdev:
    return _hostdev(name, _facts(guest, "host device", name), "hostdevice-")


def _gpu(guest: Guest, spec: GPU) -> Hostdev:
    facts = _facts(guest, "GPU", spec.name)
    device = _hostdev(spec.name, facts, "gpu-")
    if facts.kind != "mdev":
        return device
    display, ramfb = _screen(spec.virtual_gpu_options)
    return Hostdev(
        type=device.type,
        model=device.model,
        display=display,
        ramfb=ramfb,
        source=device.source,
        alias=device.alias,
    )


def _screen(options: VGPUOptions | None) -> tuple[bool | None, bool | None]:
    """A virtual GPU drives a screen unless told otherwise."""
    display = options.display if options else None
    if display is None:
        return (True, True) if options is None else (None, None)
    if not is_on(display.enabled):
        return None, None
    return True, True if display.ram_fb is None or is_on(display.ram_fb.enabled) else None


def _virtual_functions(guest: Guest) -> tuple[Hostdev, ...]:
    found = []
    for interface in guest.devices.interfaces:
        if interface.sriov is None or interface.state == "absent":
            continue
        facts = _facts(guest, "SR-IOV interface", interface.name)
        if facts.kind != "pci":
            raise SpecError(
                f"the SR-IOV interface {shown(interface.name)} was given a device that is no PCI "
                f"function; check the device plugin"
            )
        thing = f"interface {shown(interface.name)}"
        address = interface.pci_address
        found.append(
            Hostdev(
                type="pci",
                managed=False,
                source=HostdevSource(address=pci_address(facts.address, thing, typed=False)),
                boot=boot_order(interface.boot_order),
                alias=alias("interface", interface.name, "sriov-"),
                address=pci_address(address, thing) if address else None,
            )
        )
    return tuple(found)


def _hostdev(name: str, facts: HostDeviceFacts, prefix: str) -> Hostdev:
    thing = f"host device {shown(name)}"
    named = alias("host device", name, prefix)
    if facts.kind == "pci":
        source = pci_address(facts.address, thing, typed=False)
        return Hostdev(type="pci", managed=False, source=HostdevSource(address=source), alias=named)
    if facts.kind == "mdev" and _UUID.fullmatch(facts.address):
        source = Address(uuid=facts.address)
        return Hostdev(
            type="mdev", model="vfio-pci", source=HostdevSource(address=source), alias=named
        )
    if facts.kind == "usb" and (found := _USB.fullmatch(facts.address)):
        source = Address(bus=found["bus"], device=found["device"])
        return Hostdev(type="usb", managed=False, source=HostdevSource(address=source), alias=named)
    raise SpecError(f"{thing} was given an address that is none of a PCI, mediated or USB device")


def _facts(guest: Guest, thing: str, name: str) -> HostDeviceFacts:
    facts = guest.facts.host_devices.get(name)
    if facts is None:
        raise UnsupportedError(
            f"no device of this node was set aside for the {thing} {shown(name)}; "
            f"check its deviceName and the cluster's permittedHostDevices"
        )
    return facts
