"""Changes of a running guest: what a new spec, or claims that have grown, may change without a restart, and nothing else.

A comparison first, so that a sync which changes nothing does nothing. What cannot be changed while the guest
runs is left as it is; that a restart is needed is told by virt-controller.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from kubevirt.base.log import get_logger
from kubevirt.components.launcher.claim_growth import grown_bytes
from kubevirt.components.launcher.wish import Card, Wish
from kubevirt.host.libvirt.domain import DeviceElement, LiveDomain
from kubevirt.virt.domain import interface as xml
from kubevirt.virt.domain.alias import USER_PREFIX
from kubevirt.virt.domain.disk import Disk
from kubevirt.virt.domain.domain import Domain

log = get_logger(__name__)

UP, DOWN = "up", "down"


async def apply(domain: LiveDomain, runs: Domain, wanted: Wish) -> bool:
    """Whether anything was changed that the domain tells of."""
    changed = tuple(changed_links(runs, wanted))
    for card in changed:
        await domain.update(DeviceElement.INTERFACE, card)
    for disk, claim in disks_of_claims(runs, wanted):
        await _grow(domain, disk, claim)
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


def disks_of_claims(runs: Domain, wanted: Wish) -> Iterator[tuple[Disk, str | float | None]]:
    """Disks that grow with their claims, and how large those are. An overlay has the size of what is below."""
    claims = {f"{USER_PREFIX}{name}": size for name, size in wanted.claims.items()}
    for disk in runs.devices.disks:
        is_raw = disk.driver is not None and disk.driver.type == "raw"
        if disk.alias and disk.alias.name in claims and is_raw and _is_written_to(disk):
            yield disk, claims[disk.alias.name]


def _is_written_to(disk: Disk) -> bool:
    return disk.device == "disk" and not disk.readonly


async def _grow(domain: LiveDomain, disk: Disk, claim: str | float | None) -> None:
    """A device that has grown tells so itself; of a file's claim only the instance knows."""
    has = await domain.block_info(disk.target.dev)
    size = has.physical
    if disk.source and disk.source.file and claim is not None:
        # Most guests have no claim, and their managers no need for exact numbers.
        from kubevirt.base.quantity import Quantity  # noqa: PLC0415

        size = max(size, grown_bytes(Path(disk.source.file), Quantity.from_json(claim).value()))
    if size > has.capacity:
        await domain.resize_disk(disk.target.dev, size)
        log.info("a disk has grown", disk=disk.target.dev, from_bytes=has.capacity, to_bytes=size)


def _by_alias(wish: Wish) -> Mapping[str, Card]:
    interfaces = wish.spec.domain.devices.interfaces
    return {f"{USER_PREFIX}{interface.name}": interface for interface in interfaces}
