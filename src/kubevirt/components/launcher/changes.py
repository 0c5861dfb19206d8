"""Changes of a running guest: what a new spec may change without a restart, and nothing else.

A comparison first, so that a sync which changes nothing does nothing. What cannot be changed while the guest
runs is left as it is; that a restart is needed is told by virt-controller.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from kubevirt.components.launcher.wish import Card, Wish
from kubevirt.host.libvirt.domain import DeviceElement, LiveDomain
from kubevirt.virt.domain import interface as xml
from kubevirt.virt.domain.alias import USER_PREFIX
from kubevirt.virt.domain.domain import Domain

UP, DOWN = "up", "down"


async def apply(domain: LiveDomain, runs: Domain, wanted: Wish) -> bool:
    """Whether anything was changed."""
    changed = tuple(changed_links(runs, wanted))
    for card in changed:
        await domain.update(DeviceElement.INTERFACE, card)
    return bool(changed)


def changed_links(runs: Domain, wanted: Wish) -> Iterator[xml.Interface]:
    """Network cards whose cable is to be plugged in or pulled out."""
    spec = _by_alias(wanted)
    for card in runs.devices.interfaces:
        interface = spec.get(card.alias.name) if card.alias else None
        if interface is None or interface.state not in (None, UP, DOWN):
            continue
        state = interface.state or UP
        if state != (card.link.state if card.link else UP):
            yield replace(card, link=xml.LinkState(state=state))


def _by_alias(wish: Wish) -> Mapping[str, Card]:
    interfaces = wish.spec.domain.devices.interfaces
    return {f"{USER_PREFIX}{interface.name}": interface for interface in interfaces}
