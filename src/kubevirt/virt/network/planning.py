"""From a spec and a pod's links to the plans of its interfaces."""

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.interfaces import Interface, Network
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.network.bridge import bridge_plan
from kubevirt.virt.network.facts import PodFacts
from kubevirt.virt.network.guest import NetworkGuest
from kubevirt.virt.network.masquerade import masquerade_plan
from kubevirt.virt.network.names import pod_link
from kubevirt.virt.network.plan import InterfacePlan


def plan_network(vmi: VirtualMachineInstance, pod: PodFacts) -> tuple[InterfacePlan, ...]:
    """One plan for each interface with a tap; SR-IOV and plugins look after themselves."""
    guest = NetworkGuest(vmi)
    networks = {network.name: network for network in vmi.spec.networks}
    return tuple(
        _plan(guest, interface, _network(interface, networks), pod)
        for interface in vmi.spec.domain.devices.interfaces
        if interface.state != "absent" and (interface.masquerade or interface.bridge)
    )


def _network(interface: Interface, networks: dict[str, Network]) -> Network:
    if interface.name not in networks:
        raise SpecError(f"failed to find network {shown(interface.name)}; add it to networks")
    return networks[interface.name]


def _plan(
    guest: NetworkGuest, interface: Interface, network: Network, pod: PodFacts
) -> InterfacePlan:
    name = pod_link(network)
    link = pod.links.get(name)
    if link is None:
        raise UnsupportedError(
            f"pod link ({name}) is missing: the network {shown(network.name)} did not reach the "
            f"pod; check its NetworkAttachmentDefinition",
            reason="PodLinkMissing",
        )
    if interface.masquerade and interface.bridge:
        raise SpecError(
            f"logical {shown(interface.name)} interface must have exactly one binding method or "
            f"binding plugin"
        )
    plan = masquerade_plan if interface.masquerade else bridge_plan
    return plan(guest, interface, network, pod, link)
