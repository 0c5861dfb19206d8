"""Networks that the network cards refer to."""

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.interfaces import Network
from kubevirt.virt.errors import SpecError
from kubevirt.virt.network.addresses import ipv4_subnet, ipv6_subnet
from kubevirt.virt.validate.causes import Causes, duplicate, invalid, plain, required
from kubevirt.virt.validate.labels import label_trouble
from kubevirt.virt.validate.rules import Rules


def network_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    here = f"{field}.networks"
    if sum(network.pod is not None for network in spec.networks) > 1:
        yield duplicate(
            f"{field}.interfaces",
            f"more than one interface is connected to a pod network in {field}.interfaces",
        )
    interfaces = {interface.name for interface in spec.domain.devices.interfaces}
    names: set[str] = set()
    for index, network in enumerate(spec.networks):
        at = f"{here}[{index}]"
        if network.name in names:
            yield duplicate(
                f"{at}.name",
                f'Network with name "{plain(network.name)}" already exists, every network must have '
                f"a unique name",
            )
        names.add(network.name)
        if network.name not in interfaces:
            yield required(f"{at}.name", f"{at}.name '{plain(network.name)}' not found.")
        yield from _network(network, at)


def _network(network: Network, at: str) -> Causes:
    if trouble := label_trouble(network.name):
        yield invalid(f"{at}.name", f"{at}.name '{plain(network.name)}': {trouble}")
    kinds = (network.pod, network.multus, network.resource_claim)
    given = sum(kind is not None for kind in kinds)
    if given == 0:
        yield required(at, "should have a network type")
    if given > 1:
        yield required(at, "should have only one network type")
    if network.multus is not None and not network.multus.network_name:
        yield required(at, "CNI delegating plugin must have a networkName")
    if network.pod is not None:
        try:
            ipv4_subnet(network.pod.vm_network_cidr)
            ipv6_subnet(network.pod.vm_i_pv6_network_cidr)
        except SpecError as error:
            yield invalid(f"{at}.pod", str(error))
