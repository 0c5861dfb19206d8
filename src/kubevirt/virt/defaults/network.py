"""The pod network, for a guest that names none."""

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.interfaces import (
    Interface,
    InterfaceBridge,
    InterfaceMasquerade,
    Network,
    PodNetwork,
)
from kubevirt.virt.defaults.settings import Settings
from kubevirt.virt.errors import SpecError, UnsupportedError, shown

Spec = VirtualMachineInstanceSpec

NAME = "default"


def with_pod_network(spec: Spec, settings: Settings) -> Spec:
    devices = spec.domain.devices
    if devices.autoattach_pod_interface is False or spec.networks or devices.interfaces:
        return spec
    devices = replace(devices, interfaces=(_interface(settings),))
    return replace(
        spec,
        domain=replace(spec.domain, devices=devices),
        networks=(Network(name=NAME, pod=PodNetwork()),),
    )


def _interface(settings: Settings) -> Interface:
    binding = settings.interface_binding
    if binding == "masquerade":
        return Interface(name=NAME, masquerade=InterfaceMasquerade())
    if binding == "slirp":
        raise UnsupportedError("Slirp interface support has been discontinued since v1.3")
    if binding != "bridge":
        raise SpecError(
            f"network.defaultNetworkInterface of the KubeVirt object is {shown(binding)}; "
            f"use bridge or masquerade"
        )
    if not settings.bridge_on_pod_network:
        raise SpecError("Bridge on pod network configuration is not enabled under kubevirt-config")
    return Interface(name=NAME, bridge=InterfaceBridge())
