"""The network cards of a guest, as a user wants to see them: names, addresses, who says so."""

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceNetworkInterface
from kubevirt.api.interfaces import Interface
from kubevirt.virt.instance.domain import Card, DomainSeen


def of(
    vmi: VirtualMachineInstance, domain: DomainSeen, pod_addresses: tuple[str, ...]
) -> tuple[VirtualMachineInstanceNetworkInterface, ...]:
    """Those of the manifest in its order, then those that only the guest knows."""
    asked = {each.name: each for each in vmi.spec.domain.devices.interfaces}
    in_pod = {each.name for each in vmi.spec.networks if each.pod is not None}
    told = {each.mac.lower(): each for each in domain.guest_cards if each.mac}
    cards = {each.name: each for each in domain.cards if each.name in asked}
    known = [
        _known(
            cards[name],
            told.get(cards[name].mac.lower()),
            interface,
            pod_addresses if name in in_pod else (),
        )
        for name, interface in asked.items()
        if name in cards
    ]
    macs = {each.mac.lower() for each in domain.cards}
    others = [_only_in_guest(each) for mac, each in told.items() if mac not in macs]
    return (*known, *others)


def _reachable_at(
    card: Card, told: Card | None, interface: Interface, pod_addresses: tuple[str, ...]
) -> tuple[str, ...]:
    """A masqueraded guest has an address of its own that nobody outside can use: the pod's counts. Any other was
    given the pod's by DHCP, and may have chosen another since: what the guest says comes first.
    """
    of_guest = (told.addresses if told else ()) or card.addresses
    if interface.masquerade is not None:
        return pod_addresses or of_guest
    return of_guest or pod_addresses


def _known(
    card: Card, told: Card | None, interface: Interface, pod_addresses: tuple[str, ...]
) -> VirtualMachineInstanceNetworkInterface:
    addresses = _reachable_at(card, told, interface, pod_addresses)
    return VirtualMachineInstanceNetworkInterface(
        name=card.name,
        mac=card.mac or None,
        ip_address=addresses[0] if addresses else None,
        ip_addresses=addresses,
        interface_name=(told.guest_name or None) if told else None,
        queue_count=card.queues,
        link_state=card.link_state,
        info_source="domain, guest-agent" if told else "domain",
    )


def _only_in_guest(card: Card) -> VirtualMachineInstanceNetworkInterface:
    return VirtualMachineInstanceNetworkInterface(
        mac=card.mac,
        ip_address=card.addresses[0] if card.addresses else None,
        ip_addresses=card.addresses,
        interface_name=card.guest_name or None,
        info_source="guest-agent",
    )
