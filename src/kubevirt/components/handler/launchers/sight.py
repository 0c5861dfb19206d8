"""From what a launcher reports to what decisions are made by, bounded on the way.

A report ends up in the instance's status, which everybody who watches gets: it has no room for a launcher's
inventions.
"""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.rpc import reports
from kubevirt.virt.instance.agent import JUDGED
from kubevirt.virt.instance.domain import Card, DomainSeen

MOST_CARDS: Final = 64
MOST_ADDRESSES: Final = 32
MOST_DISKS: Final = 256
MOST_RESETS: Final = 1_000_000_000
WORD_LIMIT: Final = 256
SENTENCE_LIMIT: Final = 768
EMULATED: Final = "qemu"


def sight(report: reports.Domain) -> DomainSeen:
    spec, status = report.spec, report.status
    has_agent = spec.has_agent
    return DomainSeen(
        state=word(status.status),
        reason=word(status.reason),
        ending=word(status.message, SENTENCE_LIMIT),
        is_emulated=spec.type == EMULATED,
        machine=word(spec.os.type.machine),
        has_agent=has_agent,
        agent_commands=_commands(status.agent_commands) if has_agent else None,
        cards=tuple(map(_card, spec.devices.interfaces[:MOST_CARDS])),
        guest_cards=tuple(map(_guest_card, status.interfaces[:MOST_CARDS])) if has_agent else (),
        targets=tuple(
            (word(each.alias.name), word(each.target.device))
            for each in spec.devices.disks[:MOST_DISKS]
            if each.alias is not None
        ),
        os=_os(status.os_info) if has_agent else VirtualMachineInstanceGuestOSInfo(),
        is_frozen=status.fs_freeze_status.status == reports.FROZEN,
        resets=min(max(status.resets, 0), MOST_RESETS),
    )


def is_marked(report: reports.Domain) -> bool:
    """The launcher was told to end, and asks for its guest to be shut down."""
    grace = report.spec.metadata.kubevirt.grace_period
    return grace is not None and bool(grace.marked_for_graceful_shutdown)


def word(text: str, limit: int = WORD_LIMIT) -> str:
    """Printable, and not too long for a status."""
    return "".join(each for each in text[:limit] if each.isprintable())


def _commands(told: tuple[str, ...] | None) -> frozenset[str] | None:
    """Only names that are judged by: of others there may be any number."""
    return None if told is None else JUDGED.intersection(told)


def _card(card: reports.Interface) -> Card:
    return Card(
        name=word(card.alias.name) if card.alias else "",
        mac=word(card.mac.mac) if card.mac else "",
        queues=card.driver.queues if card.driver else None,
        link_state=word(card.link_state.state) if card.link_state else None,
    )


def _guest_card(card: reports.InterfaceStatus) -> Card:
    return Card(
        mac=word(card.mac),
        addresses=tuple(_addresses((card.ip, *card.ips[:MOST_ADDRESSES]))),
        guest_name=word(card.interface_name),
    )


def _addresses(texts: Iterable[str]) -> Iterable[str]:
    """Those that are addresses, each once."""
    found = {}
    for text in texts:
        try:
            found[str(ip_address(text.partition("/")[0].partition("%")[0]))] = True
        except ValueError:
            continue
    return found


def _os(told: reports.OsInfo) -> VirtualMachineInstanceGuestOSInfo:
    return VirtualMachineInstanceGuestOSInfo(
        name=word(told.name) or None,
        id=word(told.id) or None,
        kernel_release=word(told.kernel_release) or None,
        kernel_version=word(told.kernel_version) or None,
        machine=word(told.machine) or None,
        pretty_name=word(told.pretty_name) or None,
        version=word(told.version) or None,
        version_id=word(told.version_id) or None,
    )
